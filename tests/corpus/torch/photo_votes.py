"""Predict how the votes of a jury spread over the marks 1..7 for a photo (feature vectors)."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

MARKS = 7


def make_photos(n, seed, n_feat=20):
    world = np.random.default_rng(0)
    w_mean, w_spread = world.normal(size=(2, n_feat)) / np.sqrt(n_feat)
    rng = np.random.default_rng(seed)
    feats = rng.normal(size=(n, n_feat))
    centre = 4 + 1.5 * np.tanh(1.2 * feats @ w_mean)
    spread = 0.8 + 0.9 / (1 + np.exp(-2.0 * feats @ w_spread))
    grid = np.arange(1, MARKS + 1)
    p = np.exp(-0.5 * ((grid - centre[:, None]) / spread[:, None]) ** 2)
    p /= p.sum(1, keepdims=True)
    votes = np.stack([rng.multinomial(60, row) for row in p])
    dist = votes / votes.sum(1, keepdims=True)
    return torch.tensor(feats, dtype=torch.float32), torch.tensor(dist, dtype=torch.float32)


class VoteModel(nn.Module):
    def __init__(self, n_feat, width=64):
        super().__init__()
        self.fc1 = nn.Linear(n_feat, width)
        self.fc2 = nn.Linear(width, width)
        self.out = nn.Linear(width, MARKS)

    def forward(self, x):
        h = F.relu(self.fc1(x))
        h = F.relu(self.fc2(h))
        return self.out(h)


class VoteRegressor:
    def __init__(self, n_feat, lr=1e-3, epochs=25):
        self.model = VoteModel(n_feat)
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=lr, weight_decay=1e-3)
        self.criterion = nn.KLDivLoss(reduction="batchmean")
        self.epochs = epochs
        self.history = []

    def fit(self, feats, dist):
        loader = DataLoader(TensorDataset(feats, dist), batch_size=64, shuffle=True)
        for epoch in range(self.epochs):
            running = 0.0
            for xb, target in loader:
                pred = F.softmax(self.model(xb), dim=1)
                loss = self.criterion(pred, target)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                running += loss.item() * len(xb)
            self.history.append(running / len(feats))
        return self

    @torch.no_grad()
    def predict(self, feats):
        self.model.eval()
        out = F.softmax(self.model(feats), dim=1)
        self.model.train()
        return out


def report(pred, dist, label):
    grid = torch.arange(1, MARKS + 1, dtype=torch.float32)
    emd = (pred.cumsum(1) - dist.cumsum(1)).abs().sum(1).mean().item()
    mean_err = ((pred - dist) @ grid).abs().mean().item()
    kl = (dist * ((dist + 1e-6).log() - (pred + 1e-6).log())).sum(1).mean().item()
    print(f"{label}: kl {kl:.4f}  earth mover {emd:.4f}  mean mark off by {mean_err:.4f}")


if __name__ == "__main__":
    torch.manual_seed(8)
    x_train, d_train = make_photos(4000, seed=1)
    x_test, d_test = make_photos(1000, seed=2)
    reg = VoteRegressor(x_train.shape[1]).fit(x_train, d_train)
    print("loss per epoch:", [round(v, 3) for v in reg.history[::5]])
    report(d_train.mean(0).expand_as(d_test), d_test, "average jury")
    report(reg.predict(x_test), d_test, "model       ")
