import copy

import torch
from torch import nn, optim
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.manual_seed(3)
bunch = load_digits()
x_train, x_val, _, _ = train_test_split(bunch.data / 16.0, bunch.target, test_size=300, random_state=3)
x_train = torch.tensor(x_train, dtype=torch.float32)
x_val = torch.tensor(x_val, dtype=torch.float32)


class AutoEncoder(nn.Module):
    def __init__(self, code=12):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, code))
        self.decoder = nn.Sequential(nn.Linear(code, 128), nn.ReLU(), nn.Linear(128, 64), nn.Sigmoid())

    def forward(self, x):
        return self.decoder(self.encoder(x))


net = AutoEncoder()
criterion = nn.MSELoss()
optimizer = optim.Adam(net.parameters(), lr=2e-3)
baseline = criterion(x_train.mean(0).expand_as(x_val), x_val).item()
print(f"mean image: {baseline:.4f}")

best, best_state = float("inf"), None
for epoch in range(60):
    net.train()
    for batch in x_train[torch.randperm(len(x_train))].split(64):
        noisy = (batch + 0.1 * torch.randn_like(batch)).clamp(0, 1)
        optimizer.zero_grad()
        loss = criterion(net(noisy), batch)
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        val = criterion(net(x_val), x_val).item()
    if val < best:
        best, best_state = val, copy.deepcopy(net.state_dict())
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1:3d}  train {loss.item():.4f}  val {val:.4f}")

net.load_state_dict(best_state)
print(f"best val mse {best:.4f}")
