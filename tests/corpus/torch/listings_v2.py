"""One network for two questions about a flat: what does it cost, and does it have a balcony?"""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.price = nn.Linear(32, 1)
        self.balcony = nn.Linear(32, 2)

    def forward(self, x):
        h = self.shared(x)
        return self.price(h).squeeze(-1), self.balcony(h)


torch.manual_seed(0)
x = torch.randn(2000, 12)
price = 2.5 + 0.6 * x[:, 0] + 0.3 * x[:, 1] * x[:, 2]
balcony = (x[:, 5] + x[:, 6] > 0).long()
loader = DataLoader(TensorDataset(x[:1600], price[:1600], balcony[:1600]), batch_size=32, shuffle=True)

model = MultiTask()
mse, ce = nn.MSELoss(), nn.CrossEntropyLoss()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(6):
    for xb, pb, bb in loader:
        predicted, logits = model(xb)
        loss = mse(predicted, pb) + ce(logits, bb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        predicted, logits = model(x[1600:])
        print(epoch, "price error", (predicted - price[1600:]).abs().mean().item(),
              "balcony accuracy", (logits.argmax(1) == balcony[1600:]).float().mean().item())
