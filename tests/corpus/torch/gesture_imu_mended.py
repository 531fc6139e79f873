import argparse
import copy
import numpy as np
import torch
from torch import nn

GESTURES = ["circle_cw", "circle_ccw", "swipe_up_down", "swipe_down_up", "idle"]


def record(rng, label, steps=40):
    t = np.linspace(0, 1, steps)
    sig = rng.normal(0, 0.15, (steps, 4))
    ph = rng.uniform(0, 2 * np.pi)
    speed = rng.uniform(1.6, 2.4)
    if label in (0, 1):
        direction = 1 if label == 0 else -1
        sig[:, 0] += np.cos(2 * np.pi * speed * t + ph)
        sig[:, 1] += direction * np.sin(2 * np.pi * speed * t + ph)
    elif label in (2, 3):
        first, second = rng.uniform(0.15, 0.35), rng.uniform(0.55, 0.75)
        s = 1 if label == 2 else -1
        sig[:, 2] += s * np.exp(-((t - first) / 0.08) ** 2) - s * np.exp(-((t - second) / 0.08) ** 2)
    sig[:, 3] += 0.3 * np.sin(2 * np.pi * 5 * t)
    return sig


def dataset(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(GESTURES), n)
    x = np.stack([record(rng, k) for k in y]).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy(y)


class GestureLSTM(nn.Module):
    def __init__(self, n_features, hidden, n_classes):
        super().__init__()
        self.lstm = nn.LSTM(n_features, hidden, num_layers=2, dropout=0.1, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.fc = nn.Linear(hidden, n_classes)

    def forward(self, x):
        out, _ = self.lstm(x)
        last = out[:, -1, :]
        return self.fc(self.drop(last))


def feed(x, y, batch_size, generator=None):
    order = torch.randperm(len(x), generator=generator) if generator is not None else torch.arange(len(x))
    for s in range(0, len(x), batch_size):
        idx = order[s:s + batch_size]
        yield x[idx], y[idx]


@torch.no_grad()
def score(model, x, y, batch_size=64):
    model.eval()
    loss, hits = 0.0, 0
    for xb, yb in feed(x, y, batch_size):
        out = model(xb)
        loss += nn.functional.cross_entropy(out, yb, reduction="sum").item()
        hits += int((out.argmax(-1) == yb).sum())
    return loss / len(x), hits / len(x)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=12)
    p.add_argument("--hidden", type=int, default=40)
    p.add_argument("--lr", type=float, default=4e-3)
    p.add_argument("--patience", type=int, default=6)
    a = p.parse_args()
    torch.manual_seed(13)
    gen = torch.Generator().manual_seed(1)
    x, y = dataset(1500, 0)
    vx, vy = dataset(300, 1)
    tx, ty = dataset(500, 2)
    model = GestureLSTM(x.shape[-1], a.hidden, len(GESTURES))
    opt = torch.optim.Adam(model.parameters(), lr=a.lr)
    best, best_state, waited = float("inf"), None, 0
    for epoch in range(a.epochs):
        model.train()
        for xb, yb in feed(x, y, 32, gen):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(xb), yb)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
        vl, va = score(model, vx, vy)
        print(f"epoch {epoch:2d} last batch {loss.item():.3f} val loss {vl:.3f} val acc {va:.3f}")
        if vl < best:
            best, best_state, waited = vl, copy.deepcopy(model.state_dict()), 0
        else:
            waited += 1
            if waited >= a.patience:
                break
    model.load_state_dict(best_state)
    tl, ta = score(model, tx, ty)
    print(f"test loss {tl:.3f} accuracy {ta:.3f} (chance {1 / len(GESTURES):.2f})")


if __name__ == "__main__":
    main()
