"""Learn tile patches without labels (denoising autoencoder), then train a linear probe on the frozen code with 200 labels."""
import numpy as np
import torch
import torch.nn as nn


def tiles(n, seed, classes=6):
    shape_rng = np.random.default_rng(77)
    basis = shape_rng.normal(size=(classes, 5, 100))
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    mixw = rng.normal(1.0, 0.45, size=(n, 5))
    x = np.einsum("nk,nkd->nd", mixw, basis[y]) / 2 + 0.8 * rng.normal(size=(n, 100))
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


class AutoEncoder(nn.Module):
    def __init__(self, d=100, code=24):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(d, 96), nn.BatchNorm1d(96), nn.ReLU(), nn.Linear(96, code))
        self.decoder = nn.Sequential(nn.Linear(code, 96), nn.ReLU(), nn.Linear(96, d))

    def forward(self, x):
        return self.decoder(self.encoder(x))


def pretrain(ae, x, epochs=45):
    opt = torch.optim.Adam(ae.parameters(), lr=1e-3)
    for ep in range(epochs):
        ae.train()
        total = 0.0
        for idx in torch.randperm(len(x)).split(64):
            clean = x[idx]
            corrupted = clean * (torch.rand_like(clean) > 0.2)
            loss = (ae(corrupted) - clean).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        if ep % 8 == 0:
            print(f"reconstruction {total / len(x):.4f}")


class Probe(nn.Module):
    def __init__(self, encoder, classes):
        super().__init__()
        self.encoder = encoder.requires_grad_(False)
        self.linear = nn.Linear(24, classes)

    def train(self, mode=True):
        super().train(mode)
        self.encoder.eval()
        return self

    def forward(self, x):
        with torch.no_grad():
            z = self.encoder(x)
        return self.linear(z)


if __name__ == "__main__":
    torch.manual_seed(1)
    unlabelled, _ = tiles(12000, 1)
    few_x, few_y = tiles(200, 2)
    test_x, test_y = tiles(2000, 3)
    ae = AutoEncoder()
    pretrain(ae, unlabelled)

    probe = Probe(ae.encoder, 6)
    opt = torch.optim.AdamW(probe.linear.parameters(), lr=2e-2, weight_decay=1e-2)
    for step in range(400):
        probe.train()
        loss = nn.functional.cross_entropy(probe(few_x), few_y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 100 == 99:
            probe.eval()
            acc = (probe(test_x).argmax(1) == test_y).float().mean().item()
            print(f"probe step {step + 1} loss {loss.item():.4f} test acc {acc:.3f}")
