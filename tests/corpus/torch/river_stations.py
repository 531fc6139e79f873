"""One trunk, one head per gauging station; predicts tomorrow's level from a week of rain."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def catchment(n, n_stations, days=7, gauges=4, seed=0):
    g = np.random.default_rng(seed)
    rain = g.gamma(0.6, 1.0, size=(n, days, gauges)).astype(np.float32)
    levels = np.zeros((n, n_stations), np.float32)
    for s in range(n_stations):
        lag = np.exp(-np.arange(days)[::-1] / g.uniform(0.6, 3.0))
        share = g.dirichlet(np.full(gauges, 0.5))
        flow = (rain * lag[:, None] * share).sum((1, 2))
        levels[:, s] = np.sqrt(flow + 0.1)
    levels += g.normal(0, 0.05, levels.shape)
    levels = (levels - levels.mean(0)) / levels.std(0)
    return torch.from_numpy((rain - 0.6) / 0.8), torch.from_numpy(levels.astype(np.float32))


class StationModel(nn.Module):
    def __init__(self, n_stations, days=7, gauges=4, hidden=64):
        super().__init__()
        self.trunk = nn.Sequential(nn.Flatten(), nn.Linear(days * gauges, 128), nn.ReLU(), nn.Linear(128, hidden), nn.ReLU())
        self.heads = nn.ModuleList([nn.Linear(hidden, 1)] * n_stations)

    def forward(self, rain):
        h = self.trunk(rain)
        return torch.cat([head(h) for head in self.heads], dim=1)


class LitRiver:
    def __init__(self, n_stations, lr=2e-3):
        self.model = StationModel(n_stations)
        self.lr = lr
        self.loss = nn.SmoothL1Loss()

    def configure_optimizers(self, total_steps):
        opt = torch.optim.AdamW(self.model.parameters(), lr=self.lr)
        sch = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=self.lr, total_steps=total_steps)
        return opt, sch

    def training_step(self, batch):
        rain, level = batch
        return self.loss(self.model(rain), level)

    def validate(self, loader):
        self.model.eval()
        pred, true = [], []
        with torch.no_grad():
            for rain, level in loader:
                pred.append(self.model(rain))
                true.append(level)
        pred, true = torch.cat(pred), torch.cat(true)
        return 1 - ((pred - true) ** 2).mean(0) / true.var(0)


class Loop:
    def __init__(self, max_epochs):
        self.max_epochs = max_epochs

    def fit(self, lit, train, val):
        opt, sch = lit.configure_optimizers(self.max_epochs * len(train))
        for epoch in range(self.max_epochs):
            lit.model.train()
            losses = []
            for batch in train:
                loss = lit.training_step(batch)
                opt.zero_grad()
                loss.backward()
                opt.step()
                sch.step()
                losses.append(loss.item())
            r2 = lit.validate(val)
            print(f"epoch {epoch:2d} loss {np.mean(losses):.4f} nse mean {r2.mean():.3f} worst {r2.min():.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    STATIONS = 5
    X, Y = catchment(9000, STATIONS)
    train = DataLoader(TensorDataset(X[:8000], Y[:8000]), batch_size=64, shuffle=True)
    val = DataLoader(TensorDataset(X[8000:], Y[8000:]), batch_size=500)
    Loop(max_epochs=14).fit(LitRiver(STATIONS), train, val)
