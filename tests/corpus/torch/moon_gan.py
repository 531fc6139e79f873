"""Small GAN on a two-dimensional toy density, scored with MMD."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import make_moons
from sklearn.preprocessing import StandardScaler


def mlp(n_in, n_out, hidden, act):
    return nn.Sequential(
        nn.Linear(n_in, hidden), act(),
        nn.Linear(hidden, hidden), act(),
        nn.Linear(hidden, n_out),
    )


def mmd(a, b, bandwidths=(0.2, 0.5, 1.0)):
    def k(u, v):
        d = torch.cdist(u, v) ** 2
        return sum(torch.exp(-d / (2 * s * s)) for s in bandwidths).mean()
    return (k(a, a) + k(b, b) - 2 * k(a, b)).item()


class AdversarialEngine:
    def __init__(self, data, latent=8, hidden=96, lr=1e-3):
        self.data = data
        self.latent = latent
        self.G = mlp(latent, data.size(1), hidden, nn.ReLU)
        self.D = mlp(data.size(1), 1, hidden, lambda: nn.LeakyReLU(0.2))
        self.opt_g = torch.optim.Adam(self.G.parameters(), lr=lr, betas=(0.5, 0.99))
        self.opt_d = torch.optim.Adam(self.D.parameters(), lr=lr, betas=(0.5, 0.99))
        self.log = {"d": [], "g": []}

    def sample(self, n):
        z = torch.randn(n, self.latent)
        return self.G(z).detach()

    def real(self, n):
        return self.data[torch.randint(0, len(self.data), (n,))]

    def step_discriminator(self, bs):
        x, x_hat = self.real(bs), self.sample(bs)
        loss = F.softplus(-self.D(x)).mean() + F.softplus(self.D(x_hat)).mean()
        self.opt_d.zero_grad()
        loss.backward()
        self.opt_d.step()
        self.log["d"].append(loss.item())

    def step_generator(self, bs):
        loss = F.softplus(-self.D(self.sample(bs))).mean()
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()
        self.log["g"].append(loss.item())

    def fit(self, iters, bs, report=500):
        for it in range(1, iters + 1):
            self.step_discriminator(bs)
            self.step_generator(bs)
            if it % report == 0:
                d = sum(self.log["d"][-report:]) / report
                g = sum(self.log["g"][-report:]) / report
                with torch.no_grad():
                    dist = mmd(self.sample(1000), self.data[:1000])
                print(f"iter {it:5d}  d {d:.3f}  g {g:.3f}  mmd {dist:.4f}")


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--iters", type=int, default=4000)
    p.add_argument("--batch", type=int, default=128)
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()

    torch.manual_seed(args.seed)
    xy, _ = make_moons(6000, noise=0.06, random_state=args.seed)
    points = torch.tensor(StandardScaler().fit_transform(xy), dtype=torch.float32)

    engine = AdversarialEngine(points)
    engine.fit(args.iters, args.batch)
    with torch.no_grad():
        fake = engine.sample(2000)
        print("real vs real mmd", round(mmd(points[:1000], points[1000:2000]), 4))
        print("fake vs real mmd", round(mmd(fake[:1000], points[:1000]), 4))
        print("fake mean", fake.mean(0).tolist(), "std", fake.std(0).tolist())
