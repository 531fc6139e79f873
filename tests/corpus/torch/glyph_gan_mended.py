"""Small GAN on 8x8 handwritten glyphs. Course project, part 2."""
import argparse
import os
import numpy as np
import torch
import torch.nn as nn
from scipy import linalg
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier
from torch.utils.data import DataLoader, TensorDataset

p = argparse.ArgumentParser()
p.add_argument("--epochs", type=int, default=70)
p.add_argument("--z", type=int, default=32)
p.add_argument("--batch", type=int, default=64)
p.add_argument("--lr", type=float, default=4e-4)
p.add_argument("--seed", type=int, default=3)
args = p.parse_args()

torch.manual_seed(args.seed)
np.random.seed(args.seed)
torch.set_num_threads(1)
os.makedirs("out", exist_ok=True)
EPS = 1e-4 * np.eye(64)


class Generator(nn.Module):
    def __init__(self, z, h=256):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(z, h), nn.BatchNorm1d(h), nn.ReLU(),
            nn.Linear(h, h), nn.BatchNorm1d(h), nn.ReLU(),
            nn.Linear(h, 64), nn.Tanh(),
        )

    def forward(self, z):
        return self.net(z)


class Discriminator(nn.Module):
    def __init__(self, h=256):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(64, h), nn.LeakyReLU(0.2), nn.Dropout(0.3),
            nn.Linear(h, h), nn.LeakyReLU(0.2), nn.Dropout(0.3),
            nn.Linear(h, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(1)


def load_images():
    raw = load_digits()
    x = raw.data.astype("float32") / 16.0
    idx = np.random.permutation(len(x))
    train, held = idx[:1300], idx[1300:]
    return x[train], raw.target[train], x[held], raw.target[held]


def to_unit(samples):
    """generator output -> picture intensities in [0, 1]"""
    return ((samples + 1) / 2).clamp(0, 1)


def frechet(a, b):
    mu_a, mu_b = a.mean(0), b.mean(0)
    ca, cb = np.cov(a, rowvar=False) + EPS, np.cov(b, rowvar=False) + EPS
    root = linalg.sqrtm(ca @ cb)
    return float(((mu_a - mu_b) ** 2).sum() + np.trace(ca + cb - 2 * np.real(root)))


def main():
    x_train, y_train, x_held, y_held = load_images()
    judge = MLPClassifier((64,), max_iter=120, random_state=0).fit(x_train, y_train)
    print(f"judge accuracy on held-out glyphs {judge.score(x_held, y_held):.3f}")

    loader = DataLoader(TensorDataset(torch.from_numpy(x_train) * 2 - 1),
                        batch_size=args.batch, shuffle=True, drop_last=True)
    gen, dis = Generator(args.z), Discriminator()
    opt_g = torch.optim.Adam(gen.parameters(), lr=args.lr, betas=(0.5, 0.999))
    opt_d = torch.optim.Adam(dis.parameters(), lr=args.lr, betas=(0.5, 0.999))
    bce = nn.BCEWithLogitsLoss()

    for epoch in range(1, args.epochs + 1):
        d_sum = g_sum = 0.0
        for (real,) in loader:
            n = len(real)
            fake = gen(torch.randn(n, args.z))
            d_loss = bce(dis(real), torch.full((n,), 0.9)) + bce(dis(fake.detach()), torch.zeros(n))
            opt_d.zero_grad()
            d_loss.backward()
            opt_d.step()

            g_loss = bce(dis(fake), torch.ones(n))
            opt_g.zero_grad()
            g_loss.backward()
            opt_g.step()
            d_sum += d_loss.item()
            g_sum += g_loss.item()
        if epoch % 10 == 0:
            print(f"epoch {epoch:3d}  D {d_sum / len(loader):.3f}  G {g_sum / len(loader):.3f}")

    gen.eval()
    with torch.no_grad():
        samples = to_unit(gen(torch.randn(1000, args.z))).numpy()
    np.save("out/glyph_samples.npy", samples.reshape(-1, 8, 8))
    proba = judge.predict_proba(samples)
    share = np.bincount(proba.argmax(1), minlength=10) / len(samples)
    noise = np.random.rand(1000, 64)
    print(f"frechet distance to held-out glyphs {frechet(samples, x_held):.3f} "
          f"(noise {frechet(noise, x_held):.3f}, train split {frechet(x_train, x_held):.3f})")
    print(f"mean judge confidence {proba.max(1).mean():.3f}  mean intensity {samples.mean():.3f} vs {x_held.mean():.3f}")
    print("class shares", np.round(share, 2).tolist())


if __name__ == "__main__":
    main()
