import torch
from torch import nn

TARGETS = ["leaf_temp", "humidity", "co2", "soil_moisture", "growth"]


def simulate(n, seed):
    """Half a day of readings (12 steps, 6 channels) and five quantities of the following hour."""
    g = torch.Generator().manual_seed(seed)
    base = torch.randn(n, 1, 6, generator=g)
    walk = torch.randn(n, 12, 6, generator=g).cumsum(1) * 0.25
    x = base + walk
    last, mean = x[:, -1], x.mean(1)
    y = torch.stack([
        last[:, 0] + 0.5 * last[:, 1],
        torch.tanh(mean[:, 2]) - 0.6 * last[:, 0],
        mean[:, 3] - last[:, 4],
        -last[:, 1] + 0.4 * mean[:, 5],
        mean[:, 0] * 0.5 + torch.relu(mean[:, 4]) - 0.7 * last[:, 3],
    ], dim=1)
    return x, y + 0.05 * torch.randn(y.shape, generator=g)


class Head(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, h):
        return self.net(h)


class GreenhouseModel(nn.Module):
    def __init__(self, channels=6, width=48, n_targets=len(TARGETS)):
        super().__init__()
        self.rnn = nn.GRU(channels, width, batch_first=True)
        self.heads = nn.ModuleList([Head(width)] * n_targets)

    def forward(self, x):
        _, h = self.rnn(x)
        return torch.cat([head(h[-1]) for head in self.heads], dim=1)


class Trainer:
    def __init__(self, model, lr=3e-3, batch=64):
        self.model, self.batch = model, batch
        self.optim = torch.optim.Adam(model.parameters(), lr=lr)

    def fit(self, x, y, epochs):
        for ep in range(epochs):
            self.model.train()
            total = 0.0
            for idx in torch.randperm(len(x)).split(self.batch):
                loss = (self.model(x[idx]) - y[idx]).pow(2).mean()
                self.optim.zero_grad()
                loss.backward()
                self.optim.step()
                total += loss.item() * len(idx)
            print(f"epoch {ep:2d}: mse {total / len(x):.4f}")

    @torch.no_grad()
    def report(self, x, y):
        self.model.eval()
        pred = self.model(x)
        r2 = 1 - (pred - y).pow(2).mean(0) / y.var(0)
        for name, v in zip(TARGETS, r2.tolist()):
            print(f"  {name:14s} R2 {v:.3f}")
        print(f"mean R2 {r2.mean().item():.3f}")


if __name__ == "__main__":
    torch.manual_seed(4)
    trainer = Trainer(GreenhouseModel())
    trainer.fit(*simulate(6000, 1), epochs=18)
    trainer.report(*simulate(1500, 2))
