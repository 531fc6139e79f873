"""Self-supervised pretraining on unlabelled spectra, then a linear read-out from 60 labelled ones."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

GRID = np.linspace(0, 1, 96)
MINERALS = {"quartz": [0.2, 0.62], "calcite": [0.35, 0.8], "gypsum": [0.2, 0.8], "halite": [0.5, 0.62]}


def spectra(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(MINERALS), n)
    x = np.zeros((n, 96))
    for i, k in enumerate(y):
        for c in list(MINERALS.values())[k]:
            x[i] += rng.uniform(0.5, 1.0) * np.exp(-(((GRID - c - rng.normal(0, 0.01)) / 0.03) ** 2))
        x[i] += rng.uniform(-1, 1) * GRID + rng.uniform(-1, 1) * np.sin(3 * GRID + rng.uniform(0, 6))
    x += rng.normal(0, 0.08, x.shape)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


def view(x):
    n = len(x)
    slope = torch.randn(n, 1) * torch.linspace(0, 1, 96)
    wave = torch.randn(n, 1) * torch.sin(3 * torch.linspace(0, 1, 96) + 6 * torch.rand(n, 1))
    return x * (0.8 + 0.4 * torch.rand(n, 1)) + slope + wave + 0.08 * torch.randn_like(x)


class Encoder(nn.Module):
    def __init__(self, out=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(1, 16, 7, 2, 3), nn.BatchNorm1d(16), nn.ReLU(),
            nn.Conv1d(16, 32, 5, 2, 2), nn.BatchNorm1d(32), nn.ReLU(),
            nn.Flatten(), nn.Linear(32 * 24, out),
        )

    def forward(self, x):
        return self.net(x[:, None])


def nt_xent(a, b, tau=0.2):
    z = F.normalize(torch.cat([a, b]), dim=1)
    sim = z @ z.T / tau
    sim.fill_diagonal_(-1e9)
    n = len(a)
    partner = torch.cat([torch.arange(n) + n, torch.arange(n)])
    return F.cross_entropy(sim, partner)


def pretrain(encoder, x, epochs=12):
    projector = nn.Sequential(nn.ReLU(), nn.Linear(32, 32))
    opt = torch.optim.Adam([*encoder.parameters(), *projector.parameters()], lr=1e-3)
    encoder.train()
    for epoch in range(epochs):
        total = n = 0
        for idx in torch.randperm(len(x)).split(128):
            loss = nt_xent(projector(encoder(view(x[idx]))), projector(encoder(view(x[idx]))))
            opt.zero_grad()
            loss.backward()
            opt.step()
            total, n = total + loss.item(), n + 1
        print(f"pretrain {epoch} loss {total / n:.3f}")


def probe(encoder, x, y, xt, yt):
    encoder.requires_grad_(False)
    encoder.eval()
    with torch.no_grad():
        feats, feats_t = encoder(x), encoder(xt)
    mean, std = feats.mean(0), feats.std(0) + 1e-6
    feats, feats_t = (feats - mean) / std, (feats_t - mean) / std
    head = nn.Linear(32, len(MINERALS))
    opt = torch.optim.Adam(head.parameters(), lr=0.03, weight_decay=1e-2)
    for step in range(200):
        loss = F.cross_entropy(head(feats), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item(), (head(feats_t).argmax(1) == yt).float().mean().item()


if __name__ == "__main__":
    torch.manual_seed(0)
    unlabelled, _ = spectra(4000, 0)
    x, y = spectra(60, 1)
    xt, yt = spectra(1000, 2)
    enc = Encoder()
    pretrain(enc, unlabelled)
    loss, acc = probe(enc, x, y, xt, yt)
    print(f"linear read-out: train loss {loss:.3f}, test accuracy {acc:.3f}")
