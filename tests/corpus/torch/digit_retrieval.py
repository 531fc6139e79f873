"""
Metric learning on handwritten digits from a shaky, noisy scanner: retrieve pictures of
the same digit among pictures that were not trained on. Contrastive loss, bfloat16 autocast, averaged weights.
"""
import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, Sampler, TensorDataset

CLASSES_PER_BATCH, PER_CLASS = 6, 6
STEPS_PER_EPOCH, EPOCHS, ACCUMULATE = 50, 8, 2
EMA = 0.95


class BalancedBatches(Sampler):
    """P classes times K pictures for every batch."""

    def __init__(self, labels, seed):
        self.rng = np.random.default_rng(seed)
        self.groups = {c: np.flatnonzero(labels == c) for c in np.unique(labels)}

    def __len__(self):
        return STEPS_PER_EPOCH

    def __iter__(self):
        for _ in range(STEPS_PER_EPOCH):
            chosen = self.rng.choice(list(self.groups), CLASSES_PER_BATCH, replace=False)
            yield np.concatenate([self.rng.choice(self.groups[c], PER_CLASS, replace=False)
                                  for c in chosen]).tolist()


class Embedder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.stem = nn.Conv2d(1, 24, 3, padding=1, bias=False)
        self.stem.weight.requires_grad_(False)         # fixed random filters
        self.body = nn.Sequential(
            nn.GroupNorm(4, 24), nn.GELU(), nn.Conv2d(24, 48, 3, stride=2, padding=1),
            nn.GroupNorm(6, 48), nn.GELU(), nn.Conv2d(48, 64, 3, stride=2, padding=1),
            nn.GELU(), nn.Flatten(), nn.Linear(256, dim),
        )

    def forward(self, x):
        return F.normalize(self.body(self.stem(x)).float(), dim=1)


def contrastive(emb, labels, temperature=0.1, hardness=0.5):
    """Supervised contrastive loss in which close negatives count for more."""
    sim = emb @ emb.T
    eye = torch.eye(len(emb), dtype=torch.bool)
    same = labels[:, None] == labels[None, :]
    weight = torch.where(same, torch.ones_like(sim), (hardness * sim.detach() / temperature).exp())
    weight = torch.where(same, weight, weight / weight[~same].mean())
    exp = (sim / temperature).exp() * weight
    log_prob = sim / temperature - exp.masked_fill(eye, 0).sum(1, keepdim=True).log()
    positives = same & ~eye
    return -(log_prob * positives).sum(1).div(positives.sum(1)).mean()


def shake(x, generator=None):
    """Shift every picture by up to one pixel, change the contrast, add sensor noise."""
    n = len(x)
    theta = torch.eye(2, 3).repeat(n, 1, 1)
    theta[:, :, 2] = (torch.rand(n, 2, generator=generator) - 0.5) * 0.5
    x = F.grid_sample(x, F.affine_grid(theta, x.shape, align_corners=False), align_corners=False)
    gain = 0.6 + 0.8 * torch.rand(n, 1, 1, 1, generator=generator)
    return x * gain + 0.15 * torch.randn(x.shape, generator=generator)


@torch.no_grad()
def recall_at_1(embed, x, y):
    emb = embed(x)
    sim = emb @ emb.T
    sim.fill_diagonal_(-2)
    return (y[sim.argmax(1)] == y).float().mean().item()


@torch.no_grad()
def mean_ap(embed, x, y):
    emb = embed(x)
    sim = (emb @ emb.T).fill_diagonal_(-2)
    order = sim.argsort(1, descending=True)[:, :-1]
    hit = (y[order] == y[:, None]).float()
    precision = hit.cumsum(1) / torch.arange(1, hit.shape[1] + 1)
    return ((precision * hit).sum(1) / hit.sum(1)).mean().item()


def main():
    np.random.seed(0)
    torch.manual_seed(0)
    digits = load_digits()
    x = torch.tensor(digits.images[:, None] / 16.0, dtype=torch.float32)
    x_train, x_test, y_train, y_test = train_test_split(
        x, digits.target, test_size=0.35, stratify=digits.target, random_state=0)
    train = TensorDataset(x_train, torch.from_numpy(y_train))
    x_test = shake(x_test, torch.Generator().manual_seed(9))
    y_test = torch.from_numpy(y_test)
    loader = DataLoader(train, batch_sampler=BalancedBatches(y_train, seed=3))

    model = Embedder()
    averaged = copy.deepcopy(model).requires_grad_(False)
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.NAdam(trainable, lr=2e-3)

    for epoch in range(EPOCHS):
        model.train()
        losses = []
        for step, (images, labels) in enumerate(loader, 1):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                emb = model(shake(images))
            loss = contrastive(emb, labels)
            (loss / ACCUMULATE).backward()
            losses.append(loss.item())
            if step % ACCUMULATE == 0:
                optimizer.step()
                optimizer.zero_grad()
                with torch.no_grad():
                    for a, p in zip(averaged.parameters(), model.parameters()):
                        a.lerp_(p, 1 - EMA)
        print(f"epoch {epoch + 1} loss {np.mean(losses):.4f}")

    averaged.eval()
    pixels = lambda t: F.normalize(t.flatten(1), dim=1)
    for name, fn in (("raw pixels", pixels), ("embedding", averaged)):
        print(f"{name:10s} test recall@1 {recall_at_1(fn, x_test, y_test):.3f} "
              f"mAP {mean_ap(fn, x_test, y_test):.3f}")


if __name__ == "__main__":
    main()
