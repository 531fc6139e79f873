"""Quantile forecasts of hourly demand with a stateful GRU read strictly in time order."""
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(61)
QUANTILES = torch.tensor([0.1, 0.5, 0.9])
HORIZON, CHUNK = 24, 48


def demand(n_sites=16, days=160, seed=61):
    rng = np.random.default_rng(seed)
    t = np.arange(days * 24)
    out = []
    for _ in range(n_sites):
        base, daily, weekly = rng.uniform(40, 80), rng.uniform(8, 20), rng.uniform(3, 8)
        weather = np.zeros(len(t))
        shock = rng.normal(0, 1.0, len(t))
        for i in range(1, len(t)):
            weather[i] = 0.985 * weather[i - 1] + shock[i]
        phase = rng.uniform(-2, 2)
        s = (base + daily * np.sin(2 * np.pi * (t % 24 - 8 + phase) / 24)
             + weekly * ((t // 24) % 7 < 5) + weather + rng.normal(0, 1.5, len(t)))
        out.append(s)
    return np.array(out, dtype=np.float32), t


series, t = demand()
split = 130 * 24
mu, sd = series[:, :split].mean(1, keepdims=True), series[:, :split].std(1, keepdims=True)
z = torch.from_numpy((series - mu) / sd)
clock = torch.from_numpy(np.stack([np.sin(2 * np.pi * t / 24), np.cos(2 * np.pi * t / 24),
                                   np.sin(2 * np.pi * t / 168), np.cos(2 * np.pi * t / 168)], 1).astype(np.float32))
# every site is one row of the batch, all sites advance together
inputs = torch.cat([z.unsqueeze(-1), clock.expand(len(z), -1, -1)], dim=-1)
ahead = z[:, 1:].unfold(1, HORIZON, 1)  # ahead[:, i] holds hours i+1 .. i+24


class Forecaster(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.gru = nn.GRU(5, hidden, batch_first=True)
        self.head = nn.Linear(hidden, HORIZON * len(QUANTILES))

    def forward(self, x, h=None):
        y, h = self.gru(x, h)
        y = self.head(y).unflatten(-1, (HORIZON, len(QUANTILES)))
        # ordered quantiles: middle plus and minus positive widths
        mid = y[..., 1]
        return torch.stack([mid - nn.functional.softplus(y[..., 0]), mid,
                            mid + nn.functional.softplus(y[..., 2])], -1), h


def pinball(pred, target):
    e = target.unsqueeze(-1) - pred
    return torch.maximum(QUANTILES * e, (QUANTILES - 1) * e).mean()


model = Forecaster()
opt = torch.optim.RMSprop(model.parameters(), lr=3e-3)
sched = torch.optim.lr_scheduler.MultiStepLR(opt, [8, 11], gamma=0.3)
for epoch in range(13):
    model.train()
    h, losses = None, []
    for start in range(0, split - HORIZON - CHUNK + 1, CHUNK):
        pred, h = model(inputs[:, start:start + CHUNK], h)
        loss = pinball(pred, ahead[:, start:start + CHUNK])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        opt.step()
        h = h.detach()
        losses.append(loss.item())
    sched.step()
    if epoch % 3 == 0:
        print(f"epoch {epoch:2d}  pinball {np.mean(losses):.4f}")

model.eval()
with torch.no_grad():
    _, h = model(inputs[:, :split - 1])            # warm up on the past
    pred, _ = model(inputs[:, split - 1:-HORIZON], h)
truth = ahead[:, split - 1:]
last_week = z[:, split - 168:].unfold(1, HORIZON, 1)[:, :truth.size(1)]
scale = torch.from_numpy(sd)[:, :, None]
mae = ((pred[..., 1] - truth).abs() * scale).mean().item()
naive_day = ((z[:, split - 24:].unfold(1, HORIZON, 1)[:, :truth.size(1)] - truth).abs() * scale).mean().item()
naive_week = ((last_week - truth).abs() * scale).mean().item()
cover = ((truth > pred[..., 0]) & (truth < pred[..., 2])).float().mean().item()
print(f"held-out month, 24 h ahead: MAE {mae:.2f} MW  (same hour yesterday {naive_day:.2f}, last week {naive_week:.2f})")
print(f"10-90 band covers {cover:.1%} of the truth (nominal 80%)")
