"""Match two sensors looking at the same event (two-tower contrastive model)."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Tower(nn.Module):
    def __init__(self, n_in, width=128, dim=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_in, width), nn.GELU(),
            nn.Linear(width, width), nn.GELU(),
            nn.Linear(width, dim),
        )

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


class PairModel(nn.Module):
    def __init__(self, n_a, n_b, temperature=0.07):
        super().__init__()
        self.a, self.b = Tower(n_a), Tower(n_b)
        self.temperature = temperature

    def forward(self, xa, xb):
        za, zb = self.a(xa), self.b(xb)
        logits = za @ zb.t() * self.temperature
        target = torch.arange(len(xa))
        return (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target)) / 2


def events(n, rng, mats):
    wa, wb, va, vb = mats
    z = rng.normal(size=(n, 12))
    a = np.tanh(z @ wa) @ va + 0.1 * rng.normal(size=(n, va.shape[1]))
    b = np.tanh(z @ wb) @ vb + 0.1 * rng.normal(size=(n, vb.shape[1]))
    return torch.tensor(a, dtype=torch.float32), torch.tensor(b, dtype=torch.float32)


@torch.no_grad()
def retrieval(model, a, b):
    model.eval()
    sim = model.a(a) @ model.b(b).t()
    rank = (sim > sim.diag().unsqueeze(1)).sum(1)
    return (rank == 0).float().mean().item(), (rank < 5).float().mean().item()


class Fitter:
    def __init__(self, model, lr, batch):
        self.model, self.batch = model, batch
        self.opt = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=1e-3)

    def fit(self, train, test, epochs):
        n = len(train[0])
        for ep in range(epochs):
            self.model.train()
            perm, losses = torch.randperm(n), []
            for i in range(0, n - self.batch + 1, self.batch):
                idx = perm[i:i + self.batch]
                loss = self.model(train[0][idx], train[1][idx])
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                losses.append(loss.item())
            if ep % 6 == 5:
                r1, r5 = retrieval(self.model, *test)
                print(f"epoch {ep + 1:2d} loss {np.mean(losses):.4f} R@1 {r1:.3f} R@5 {r5:.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    mats = (rng.normal(size=(12, 24)) / 3, rng.normal(size=(12, 24)) / 3,
            rng.normal(size=(24, 40)) / 4, rng.normal(size=(24, 30)) / 4)
    train = events(8000, rng, mats)
    test = events(1000, rng, mats)
    Fitter(PairModel(40, 30), lr=1e-3, batch=128).fit(train, test, epochs=60)
