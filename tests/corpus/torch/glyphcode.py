import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(6)
X = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)
train, test = X[:1500], X[1500:]


class TiedAutoencoder(nn.Module):
    def __init__(self, n_in=64, hidden=48, code=16):
        super().__init__()
        self.w1 = nn.Parameter(torch.empty(hidden, n_in))
        self.w2 = nn.Parameter(torch.empty(code, hidden))
        nn.init.xavier_uniform_(self.w1)
        nn.init.xavier_uniform_(self.w2)
        self.b1 = nn.Parameter(torch.zeros(hidden))
        self.b2 = nn.Parameter(torch.zeros(code))
        self.c1 = nn.Parameter(torch.zeros(hidden))
        self.c2 = nn.Parameter(torch.zeros(n_in))

    def encode(self, x):
        return F.linear(F.elu(F.linear(x, self.w1, self.b1)), self.w2, self.b2)

    def decode(self, z):
        h = F.elu(F.linear(z, self.w2.t(), self.c1))
        return torch.sigmoid(F.linear(h, self.w1.t(), self.c2))

    def forward(self, x):
        return self.decode(self.encode(x))


model = TiedAutoencoder()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=5e-3, total_steps=30 * 24)
for epoch in range(30):
    total = 0.0
    for idx in torch.randperm(len(train)).split(64):
        clean = train[idx]
        noisy = (clean + 0.2 * torch.randn_like(clean)).clamp(0, 1)
        loss = F.binary_cross_entropy(model(noisy), clean)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        total += loss.item() * len(idx)
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} bce {total / len(train):.4f}")

with torch.no_grad():
    mse = F.mse_loss(model(test), test).item()
print("test mse", mse, "variance", ((test - train.mean(0)) ** 2).mean().item())
