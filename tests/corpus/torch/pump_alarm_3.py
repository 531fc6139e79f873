"""Rare pump failures (about 2 %) from vibration summaries."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make(n, seed):
    g = np.random.default_rng(seed)
    y = (g.random(n) < 0.02).astype(np.float32)
    x = g.normal(size=(n, 20)).astype(np.float32)
    mode = g.integers(0, 2, n)
    x[:, 0] += 2.2 * y * (mode == 0)
    x[:, 1] += 2.2 * y * (mode == 0)
    x[:, 2] -= 2.4 * y * (mode == 1)
    x[:, 3] += 2.4 * y * (mode == 1)
    return torch.from_numpy(x), torch.from_numpy(y)


def average_precision(score, y):
    order = score.argsort(descending=True)
    hit = y[order]
    precision = hit.cumsum(0) / torch.arange(1, len(hit) + 1)
    return ((precision * hit).sum() / hit.sum()).item()


def recall_precision(logit, y, cut):
    flagged = logit > cut
    tp = (flagged & (y == 1)).sum().item()
    return tp / max(1, int(y.sum())), tp / max(1, int(flagged.sum()))


def main():
    torch.manual_seed(6)
    xt, yt = make(30000, 0)
    xv, yv = make(10000, 1)
    xs, ys = make(10000, 2)
    weight = (1 - yt).sum() / yt.sum()
    print(f"failures in training {int(yt.sum())}, weight {weight:.1f}")
    net = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 1))
    with torch.no_grad():
        net[-1].bias.zero_()
    loss_fn = nn.BCEWithLogitsLoss(pos_weight=weight)
    opt = torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=1e-4)
    loader = DataLoader(TensorDataset(xt, yt), batch_size=512, shuffle=True)
    for epoch in range(60):
        net.train()
        total = 0.0
        for x, y in loader:
            loss = loss_fn(net(x).squeeze(1), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        net.eval()
        with torch.no_grad():
            lv = net(xv).squeeze(1)
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1:2d} weighted loss {total / len(loader):.4f} val AP {average_precision(lv, yv):.3f}")
    # the cut is chosen on validation so that 80 % of the failures are flagged
    cut = lv[yv == 1].quantile(0.2)
    with torch.no_grad():
        ls = net(xs).squeeze(1)
    r, p = recall_precision(ls, ys, cut)
    print(f"test AP {average_precision(ls, ys):.3f} (chance {ys.mean():.3f}) recall {r:.3f} precision {p:.3f}")


if __name__ == "__main__":
    main()
