"""Digit retrieval: unit-norm embeddings trained with the hardest negatives of P x K batches."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, Sampler, TensorDataset


class PKSampler(Sampler):
    """Batches with P classes and K samples of each, drawn with replacement across batches."""

    def __init__(self, y, p, k, n_batches, seed):
        self.by_class = [np.flatnonzero(y == c) for c in np.unique(y)]
        self.p, self.k, self.n = p, k, n_batches
        self.rng = np.random.default_rng(seed)

    def __iter__(self):
        for _ in range(self.n):
            cls = self.rng.choice(len(self.by_class), self.p, replace=False)
            yield np.concatenate([self.rng.choice(self.by_class[c], self.k, replace=False) for c in cls]).tolist()

    def __len__(self):
        return self.n


class Embedder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Unflatten(1, (1, 8)), nn.Conv2d(1, 24, 3, padding=1), nn.GroupNorm(4, 24), nn.ReLU(),
            nn.Conv2d(24, 32, 3, stride=2, padding=1), nn.GroupNorm(4, 32), nn.ReLU(),
            nn.Flatten(), nn.Linear(32 * 16, dim, bias=False))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


def hard_contrastive(z, y, n_hard, temp=0.1):
    """Each positive pair against the n_hard most similar negatives of its anchor."""
    sim = z @ z.t() / temp
    same = y[:, None] == y[None, :]
    hard = sim.masked_fill(same, -torch.inf).topk(n_hard, dim=1).values
    pairs = torch.logaddexp(sim, hard.logsumexp(1, keepdim=True)) - sim
    pos = same & ~torch.eye(len(y), dtype=torch.bool)
    ordered = (sim > hard[:, :1])[pos].float().mean()
    return pairs[pos].mean(), ordered


@torch.no_grad()
def retrieval(embed, gallery, gy, query, qy):
    s = embed(query) @ embed(gallery).t()
    order = s.argsort(1, descending=True)
    rel = (gy[order] == qy[:, None]).float()
    prec = rel.cumsum(1) / torch.arange(1, rel.size(1) + 1)
    return rel[:, 0].mean().item(), ((prec * rel).sum(1) / rel.sum(1)).mean().item()


def main():
    torch.manual_seed(6)
    X, y = load_digits(return_X_y=True)
    X = torch.tensor((X / 16 - 0.3).reshape(-1, 8, 8), dtype=torch.float32)
    tr, te = train_test_split(np.arange(len(y)), test_size=0.4, random_state=6, stratify=y)
    y_t = torch.from_numpy(y)
    train = TensorDataset(X[tr], y_t[tr])
    loader = DataLoader(train, batch_sampler=PKSampler(y[tr], p=8, k=6, n_batches=60, seed=6))

    model = Embedder()
    averaged = torch.optim.swa_utils.AveragedModel(
        model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.98))
    opt = torch.optim.RAdam(model.parameters(), lr=1e-3)
    for epoch in range(10):
        # all negatives at first, then only the nearest ones
        n_hard = 42 if epoch < 3 else 8
        losses, ok = [], []
        for xb, yb in loader:
            # shift by one pixel at random
            xb = torch.roll(xb, tuple(np.random.default_rng(len(losses) + 100 * epoch).integers(-1, 2, 2)), (1, 2))
            loss, frac = hard_contrastive(model(xb), yb, n_hard)
            opt.zero_grad()
            loss.backward()
            opt.step()
            averaged.update_parameters(model)
            losses.append(loss.item())
            ok.append(frac.item())
        print(f"epoch {epoch} loss {np.mean(losses):.4f} ordered pairs {np.mean(ok):.3f}")

    gal, qry = te[:400], te[400:]
    p1, mAP = retrieval(averaged.eval(), X[gal], y_t[gal], X[qry], y_t[qry])
    raw = lambda x: F.normalize(x.flatten(1), dim=-1)
    r1, rmap = retrieval(raw, X[gal], y_t[gal], X[qry], y_t[qry])
    print(f"precision@1 {p1:.3f} mAP {mAP:.3f} (raw pixels: {r1:.3f} / {rmap:.3f})")


if __name__ == "__main__":
    main()
