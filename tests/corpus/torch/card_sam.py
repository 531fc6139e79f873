# %% [markdown]
# Card payments, one in a hundred is fraud. Sharpness-aware steps, balanced sampling, logit put back to the true rate.

# %%
import copy
import math
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Sampler, TensorDataset
from sklearn.metrics import average_precision_score, precision_recall_curve

torch.manual_seed(21)
rng = np.random.default_rng(21)

# %%
N, D = 48000, 16
X = rng.normal(size=(N, D)).astype(np.float32)
risk = 1.6 * X[:, 0] * X[:, 1] + 1.4 * np.abs(X[:, 2]) + 1.2 * X[:, 3] - X[:, 4] ** 2 * 0.4 + 0.25 * rng.normal(size=N)
cut = np.quantile(risk, 0.99)
y = (risk > cut).astype(np.float32)
order = rng.permutation(N)
tr, va, te = order[:32000], order[32000:40000], order[40000:]
mu, sd = X[tr].mean(0), X[tr].std(0)
X = (X - mu) / sd
T = lambda idx: TensorDataset(torch.from_numpy(X[idx]), torch.from_numpy(y[idx]))
print("fraud share train/val/test", y[tr].mean(), y[va].mean(), y[te].mean())


class HalfAndHalf(Sampler):
    """Each batch holds `pos` frauds (drawn with replacement) and the rest plain payments, each plain one once an epoch."""

    def __init__(self, labels, batch, pos):
        self.p = np.flatnonzero(labels == 1)
        self.n = np.flatnonzero(labels == 0)
        self.pos, self.neg = pos, batch - pos

    def __len__(self):
        return len(self.n) // self.neg

    def __iter__(self):
        neg = np.random.permutation(self.n)
        for i in range(len(self)):
            yield np.concatenate([np.random.choice(self.p, self.pos), neg[i * self.neg:(i + 1) * self.neg]]).tolist()


np.random.seed(4)
sampler = HalfAndHalf(y[tr], 256, 64)
loader = DataLoader(T(tr), batch_sampler=sampler)
# odds in the batches are 1/3, real odds are about 1/99
shift = math.log(y[tr].mean() / (1 - y[tr].mean())) - math.log(64 / 192)

# %%
model = nn.Sequential(nn.Linear(D, 64), nn.GELU(), nn.Dropout(0.1), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 1))
base = torch.optim.SGD(model.parameters(), lr=0.15, momentum=0.9, nesterov=True, weight_decay=1e-4)
EPOCHS, RHO = 10, 0.05
one_cycle = torch.optim.lr_scheduler.OneCycleLR(base, max_lr=0.15, total_steps=EPOCHS * len(loader), pct_start=0.2)
bce = nn.BCEWithLogitsLoss()


def sharp_step(xb, yb):
    loss = bce(model(xb).squeeze(1), yb)
    loss.backward()
    with torch.no_grad():
        norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm() + 1e-12
        moves = []
        for p in model.parameters():
            e = p.grad * (RHO / norm)
            p.add_(e)
            moves.append(e)
    model.zero_grad()
    bce(model(xb).squeeze(1), yb).backward()
    with torch.no_grad():
        for p, e in zip(model.parameters(), moves):
            p.sub_(e)
    base.step()
    base.zero_grad()
    return loss.item()


@torch.no_grad()
def scores(idx):
    model.eval()
    out = torch.sigmoid(model(torch.from_numpy(X[idx])).squeeze(1) + shift).numpy()
    model.train()
    return out


# %%
best, keep = -1.0, None
for epoch in range(EPOCHS):
    run = []
    for i, (xb, yb) in enumerate(loader):
        run.append(sharp_step(xb, yb))
        one_cycle.step()
        if i == len(loader) // 2 or i == len(loader) - 1:
            ap = average_precision_score(y[va], scores(va))
            if ap > best:
                best, keep = ap, copy.deepcopy(model.state_dict())
    print(f"epoch {epoch:2d} loss {np.mean(run):.4f} val AP {ap:.3f} best {best:.3f}")

model.load_state_dict(keep)
p, r, t = precision_recall_curve(y[va], scores(va))
f1 = 2 * p * r / (p + r + 1e-9)
thr = t[f1[:-1].argmax()]
s = scores(te)
hit = s > thr
print(f"test AP {average_precision_score(y[te], s):.3f} (chance {y[te].mean():.3f})")
print(f"threshold {thr:.3f}: precision {y[te][hit].mean():.3f} recall {hit[y[te] == 1].mean():.3f}; "
      f"mean predicted rate {s.mean():.4f}")
