"""Hourly bike-hire forecasts: three quantiles, 24 hours ahead. bfloat16 autocast, accumulated gradients,
and a horizon that grows during training."""
import numpy as np
import torch
import torch.nn as nn

CONTEXT, HORIZON = 72, 24
QS = torch.tensor([0.1, 0.5, 0.9])


def make_series(hours=24 * 7 * 40, seed=3):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    hour, day = t % 24, (t // 24) % 7
    work = day < 5
    commute = np.exp(-0.5 * ((hour - 8) / 1.3) ** 2) + 1.2 * np.exp(-0.5 * ((hour - 17.5) / 1.8) ** 2)
    leisure = 0.9 * np.exp(-0.5 * ((hour - 14) / 3.5) ** 2)
    weather = np.zeros(hours)
    for k in range(1, hours):
        weather[k] = 0.97 * weather[k - 1] + rng.normal(0, 0.12)
    level = 80 * np.exp(0.5 * weather) * (1 + 0.0001 * t)
    rate = level * (0.1 + np.where(work, commute, leisure))
    return rng.poisson(rate).astype(np.float32), hour, day


def features(hour, day):
    a, b = 2 * np.pi * hour / 24, 2 * np.pi * day / 7
    return np.stack([np.sin(a), np.cos(a), np.sin(2 * a), np.cos(2 * a), np.sin(b), np.cos(b), day >= 5], -1)


class QuantileNet(nn.Module):
    def __init__(self, n_feat=7, hidden=48):
        super().__init__()
        self.encoder = nn.GRU(1 + n_feat, hidden, batch_first=True)
        self.decoder = nn.Sequential(nn.Linear(hidden + n_feat + 1, 96), nn.GELU(), nn.Linear(96, 3))

    def forward(self, past, past_f, future_f, last_day):
        _, h = self.encoder(torch.cat([past.unsqueeze(-1), past_f], -1))
        h = h[-1].unsqueeze(1).expand(-1, future_f.size(1), -1)
        out = self.decoder(torch.cat([h, future_f, last_day.unsqueeze(-1)], -1))
        mid = out[..., 1] + last_day
        low = mid - nn.functional.softplus(out[..., 0])
        high = mid + nn.functional.softplus(out[..., 2])
        return torch.stack([low, mid, high], -1)


def pinball(pred, target):
    diff = target.unsqueeze(-1) - pred
    return torch.maximum(QS * diff, (QS - 1) * diff)


def main():
    torch.manual_seed(0)
    counts, hour, day = make_series()
    feats = torch.from_numpy(features(hour, day)).float()
    split = int(0.8 * len(counts))
    log = torch.from_numpy(np.log1p(counts))
    mu, sd = log[:split].mean(), log[:split].std()
    z = (log - mu) / sd

    starts_tr = torch.arange(0, split - CONTEXT - HORIZON, 4)
    starts_te = torch.arange(split, len(z) - CONTEXT - HORIZON, 12)

    def batch(starts, horizon):
        i = starts[:, None] + torch.arange(CONTEXT)
        j = starts[:, None] + CONTEXT + torch.arange(horizon)
        return z[i], feats[i], feats[j], z[j - 24], z[j]

    net = QuantileNet()
    opt = torch.optim.NAdam(net.parameters(), lr=3e-3)
    accumulate, epochs = 4, 6
    for epoch in range(epochs):
        horizon = min(HORIZON, 8 + 4 * epoch)
        for g in opt.param_groups:
            g["lr"] = 3e-3 * 0.5 * (1 + np.cos(np.pi * epoch / epochs))
        net.train()
        pieces = starts_tr[torch.randperm(len(starts_tr))].split(16)
        pieces = pieces[: len(pieces) // accumulate * accumulate]
        total = 0.0
        for k, idx in enumerate(pieces):
            *x, y = batch(idx, horizon)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                pred = net(*x)
            loss = pinball(pred.float(), y).sum(-1).mean()
            (loss / accumulate).backward()
            total += loss.item()
            if (k + 1) % accumulate == 0:
                nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                opt.step()
                opt.zero_grad()
        print(f"epoch {epoch} horizon {horizon:2d} pinball {total / len(pieces):.4f}")

    net.eval()
    with torch.no_grad():
        *x, y = batch(starts_te, HORIZON)
        pred = net(*x)
        loss = pinball(pred, y).sum(-1).mean().item()
        resid = torch.stack([z[i + 24] - z[i] for i in range(0, split - 24, 7)]).quantile(QS)
        naive = pinball(x[3].unsqueeze(-1) + resid, y).sum(-1).mean().item()
    cover = ((y >= pred[..., 0]) & (y <= pred[..., 2])).float().mean().item()
    print(f"test pinball {loss:.4f} (same hour yesterday {naive:.4f})  80% interval covers {cover:.3f}")


if __name__ == "__main__":
    main()
