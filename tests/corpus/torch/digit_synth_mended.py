"""Synthesise 8x8 handwritten digits with a small GAN (used to pad our OCR demo set)."""
import argparse
import os

import numpy as np
import torch
import torch.nn as nn
from scipy.linalg import sqrtm
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from torch.utils.data import DataLoader, TensorDataset

p = argparse.ArgumentParser()
p.add_argument("--epochs", type=int, default=110)
p.add_argument("--batch", type=int, default=64)
p.add_argument("--zdim", type=int, default=24)
p.add_argument("--lr_g", type=float, default=4e-4)
p.add_argument("--lr_d", type=float, default=4e-4)
p.add_argument("--seed", type=int, default=7)
args = p.parse_args()

torch.manual_seed(args.seed)
rng = np.random.default_rng(args.seed)
os.makedirs("out", exist_ok=True)

images = load_digits().data.astype("float32") / 8.0 - 1.0
order = rng.permutation(len(images))
train_imgs, test_imgs = images[order[:1300]], images[order[1300:]]
loader = DataLoader(TensorDataset(torch.from_numpy(train_imgs)),
                    batch_size=args.batch, shuffle=True, drop_last=True)


class Generator(nn.Module):
    def __init__(self, zdim, width=192):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(zdim, width), nn.BatchNorm1d(width), nn.ReLU(),
            nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(),
            nn.Linear(width, 64), nn.Tanh(),
        )

    def forward(self, z):
        return self.net(z)


class Discriminator(nn.Module):
    def __init__(self, width=192):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(64, width), nn.LeakyReLU(0.2), nn.Dropout(0.3),
            nn.Linear(width, width), nn.LeakyReLU(0.2), nn.Dropout(0.3),
            nn.Linear(width, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(1)


pca = PCA(n_components=20).fit(train_imgs)


def frechet(a, b):
    """Frechet distance between two sets of images in PCA space."""
    fa, fb = pca.transform(a), pca.transform(b)
    ca, cb = np.cov(fa, rowvar=False), np.cov(fb, rowvar=False)
    root = sqrtm(ca @ cb).real
    return float(((fa.mean(0) - fb.mean(0)) ** 2).sum() + np.trace(ca + cb - 2 * root))


@torch.no_grad()
def sample(gen, n):
    gen.eval()
    imgs = gen(torch.randn(n, args.zdim)).numpy()
    gen.train()
    return imgs


G, D = Generator(args.zdim), Discriminator()
opt_g = torch.optim.Adam(G.parameters(), lr=args.lr_g, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=args.lr_d, betas=(0.5, 0.999))
real_label, fake_label = 1.0, 0.0
criterion = nn.BCEWithLogitsLoss()

for epoch in range(1, args.epochs + 1):
    d_sum = g_sum = 0.0
    for (real,) in loader:
        n = real.size(0)
        label = torch.full((n,), real_label)

        # discriminator
        fake = G(torch.randn(n, args.zdim))
        loss_real = criterion(D(real), label * 0.9)
        label.fill_(fake_label)
        loss_fake = criterion(D(fake.detach()), label)
        loss_d = loss_real + loss_fake
        opt_d.zero_grad()
        loss_d.backward()
        opt_d.step()

        # generator
        label.fill_(real_label)
        loss_g = criterion(D(fake), label)
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()

        d_sum += loss_d.item()
        g_sum += loss_g.item()
    if epoch % 10 == 0:
        fd = frechet(sample(G, 1500), test_imgs)
        print(f"[{epoch:3d}/{args.epochs}] D {d_sum / len(loader):.3f}  "
              f"G {g_sum / len(loader):.3f}  FD(test) {fd:.2f}")

noise = rng.uniform(-1, 1, size=(1500, 64)).astype("float32")
blurry = train_imgs.mean(0, keepdims=True) + 0.1 * noise
print(f"Frechet distance to held-out digits: {frechet(sample(G, 1500), test_imgs):.2f}")
print(f"  reference: uniform noise {frechet(noise, test_imgs):.2f}, "
      f"noisy mean digit {frechet(blurry, test_imgs):.2f}, "
      f"real train images {frechet(train_imgs, test_imgs):.2f}")
np.save("out/digits_fake.npy", sample(G, 256))
