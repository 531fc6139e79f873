import numpy as np
import torch
import torch.nn as nn


def simulate(length, rng):
    rain = rng.gamma(0.3, 2.0, length) * (rng.random(length) < 0.25)
    soil, flow = 0.0, np.zeros(length)
    for t in range(length):
        soil = 0.95 * soil + 0.2 * rain[t]
        flow[t] = 0.6 * soil + 0.25 * soil ** 2 * 0.3
    flow = flow * (1 + 0.03 * rng.normal(size=length)) + 0.02 * rng.normal(size=length)
    return rain.astype(np.float32), flow.astype(np.float32)


class River(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.cell = nn.GRU(1, width, batch_first=True)
        self.mean = nn.Linear(width, 1)
        self.log_var = nn.Linear(width, 1)

    def forward(self, x, state=None):
        h, state = self.cell(x, state)
        return self.mean(h), self.log_var(h).clamp(-8, 4), state


def nll(mean, log_var, y):
    return 0.5 * (log_var + (y - mean) ** 2 * torch.exp(-log_var)).mean()


def as_lanes(a, lanes):
    n = len(a) // lanes
    return torch.from_numpy(a[: n * lanes].reshape(lanes, n, 1))


def train(model, rain, flow, chunk=40, epochs=30):
    opt = torch.optim.RMSprop(model.parameters(), lr=2e-3)
    sched = torch.optim.lr_scheduler.LinearLR(opt, 1.0, 0.05, total_iters=epochs)
    for epoch in range(epochs):
        state, total, n = None, 0.0, 0
        for s in range(0, rain.shape[1] - chunk + 1, chunk):
            mean, log_var, state = model(rain[:, s:s + chunk], state)
            state = state.detach()
            loss = nll(mean, log_var, flow[:, s:s + chunk])
            for p in model.parameters():
                p.grad = None
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
            total += float(loss)
            n += 1
        sched.step()
        print(f"epoch {epoch} loss {total / n:.4f}")


def main():
    rng = np.random.default_rng(9)
    torch.manual_seed(9)
    rain, flow = simulate(10000, rng)
    scale_r, mean_f, std_f = rain[:8000].std(), flow[:8000].mean(), flow[:8000].std()
    rain, flow = rain / scale_r, (flow - mean_f) / std_f
    model = River()
    train(model, as_lanes(rain[:8000], 8), as_lanes(flow[:8000], 8))
    with torch.no_grad():
        mean, log_var, _ = model(torch.from_numpy(rain[8000:])[None, :, None])
    y = torch.from_numpy(flow[8000:])
    mean, sd = mean[0, 100:, 0], torch.exp(0.5 * log_var[0, 100:, 0])
    y = y[100:]
    r2 = 1 - (y - mean).pow(2).sum() / (y - y.mean()).pow(2).sum()
    cover = ((y - mean).abs() < 1.645 * sd).float().mean()
    print(f"test R2 {r2:.3f}, 90% interval coverage {cover:.3f}")


if __name__ == "__main__":
    main()
