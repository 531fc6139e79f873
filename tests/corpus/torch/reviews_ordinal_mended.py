import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

LEVELS = 5
SETTINGS = {"epochs": 12, "micro": 32, "accumulate": 4, "lr": 3e-3, "clip": 1.0, "aux": 0.5}


def make_reviews(n, rng):
    x = rng.normal(size=(n, 16)).astype(np.float32)
    mood = 1.4 * np.tanh(x[:, 0] * x[:, 1]) + x[:, 2] - 0.8 * np.abs(x[:, 3]) + 0.6
    stars = np.digitize(mood + rng.normal(0, 0.25, n), [-1.0, -0.2, 0.5, 1.2])
    chars = 900 + 350 * x[:, 8] + 250 * np.sin(2 * x[:, 9]) + 120 * rng.normal(size=n)
    return torch.from_numpy(x), torch.from_numpy(stars), torch.from_numpy(chars.astype(np.float32))


class ReviewNet(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_in, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU())
        self.score = nn.Linear(96, 1, bias=False)
        self.cuts = nn.Parameter(torch.linspace(1.0, -1.0, LEVELS - 1))
        self.length = nn.Linear(96, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.score(h) + self.cuts, self.length(h).squeeze(1)


def level_targets(stars):
    return (stars[:, None] > torch.arange(LEVELS - 1)[None, :]).float()


class ReviewTrainer:
    def __init__(self, model, settings, length_stats):
        self.model = model
        self.cfg = settings
        self.mean, self.std = length_stats
        self.opt = torch.optim.Adam(model.parameters(), lr=settings["lr"])
        steps = settings["epochs"] * 40
        self.sched = torch.optim.lr_scheduler.OneCycleLR(self.opt, settings["lr"], total_steps=steps)

    def objective(self, x, stars, chars):
        levels, length = self.model(x)
        rating = F.binary_cross_entropy_with_logits(levels, level_targets(stars))
        aux = F.mse_loss(length, (chars - self.mean) / self.std)
        return rating + self.cfg["aux"] * aux

    def fit(self, x, stars, chars):
        k, m = self.cfg["accumulate"], self.cfg["micro"]
        for epoch in range(self.cfg["epochs"]):
            order = torch.randperm(len(x))
            total = 0.0
            self.opt.zero_grad()
            for i, idx in enumerate(order.split(m)):
                loss = self.objective(x[idx], stars[idx], chars[idx]) / k
                loss.backward()
                total += loss.item() * k
                if (i + 1) % k == 0:
                    nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg["clip"])
                    self.opt.step()
                    self.sched.step()
                    self.opt.zero_grad()
            print(f"epoch {epoch} loss {total / (i + 1):.4f}")

    @torch.no_grad()
    def score(self, x, stars, chars):
        levels, length = self.model(x)
        pred = (levels > 0).sum(1)
        length = length * self.std + self.mean
        return {
            "accuracy": (pred == stars).float().mean().item(),
            "star_mae": (pred - stars).abs().float().mean().item(),
            "majority": stars.bincount().max().item() / len(stars),
            "length_mae": (length - chars).abs().mean().item(),
        }


if __name__ == "__main__":
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    train, test = make_reviews(5120, rng), make_reviews(1500, rng)
    stats = (train[2].mean(), train[2].std())
    trainer = ReviewTrainer(ReviewNet(16), SETTINGS, stats)
    trainer.fit(*train)
    print({k: round(v, 3) for k, v in trainer.score(*test).items()})
