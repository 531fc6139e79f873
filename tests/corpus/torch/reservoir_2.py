"""Echo state network for the Mackey-Glass series: a fixed reservoir and a readout trained by gradient descent."""
import numpy as np
import torch
from torch import nn


def mackey_glass(n, tau=17, seed=0):
    rng = np.random.default_rng(seed)
    hist = list(1.2 + 0.1 * rng.normal(size=tau + 1))
    for _ in range(n + 300):
        past, now = hist[-tau - 1], hist[-1]
        hist.append(now + 0.2 * past / (1 + past ** 10) - 0.1 * now)
    return torch.tensor(hist[-n:], dtype=torch.float32)


class EchoState(nn.Module):
    def __init__(self, units=200, radius=0.9, density=0.1, leak=0.5):
        super().__init__()
        w = torch.randn(units, units) * (torch.rand(units, units) < density)
        w = w * (radius / torch.linalg.eigvals(w).abs().max())
        self.w = nn.Parameter(w, requires_grad=False)
        self.w_in = nn.Parameter(torch.rand(units, 1) * 2 - 1, requires_grad=False)
        self.bias = nn.Parameter(torch.randn(units) * 0.2, requires_grad=False)
        self.leak = leak
        self.readout = nn.Linear(units, 1)

    @torch.no_grad()
    def states(self, series):
        h = torch.zeros(len(self.bias))
        rows = []
        for value in series:
            pre = self.w @ h + self.w_in[:, 0] * value + self.bias
            h = (1 - self.leak) * h + self.leak * torch.tanh(pre)
            rows.append(h)
        return torch.stack(rows)

    def forward(self, states):
        return self.readout(states).squeeze(-1)


def main():
    torch.manual_seed(0)
    horizon, washout, cut = 10, 100, 2200
    series = mackey_glass(3000)
    mean, std = series[:cut].mean(), series[:cut].std()
    z = (series - mean) / std
    net = EchoState()
    h = net.states(z[:-horizon])[washout:]
    target = z[horizon:][washout:]
    split = cut - washout - horizon
    h_mean, h_std = h[:split].mean(0), h[:split].std(0)
    h = (h - h_mean) / h_std
    x_tr, y_tr = h[:split], target[:split]
    x_te, y_te = h[split + horizon:], target[split + horizon:]

    opt = torch.optim.Adam(net.readout.parameters(), lr=5e-3)
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.95)
    for epoch in range(40):
        total = 0.0
        for idx in torch.randperm(len(x_tr)).split(64):
            loss = nn.functional.mse_loss(net(x_tr[idx]), y_tr[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        sched.step()
        if epoch % 8 == 0:
            print(f"epoch {epoch:2d}  train mse {total / len(x_tr):.4f}")
    with torch.no_grad():
        mse = nn.functional.mse_loss(net(x_te), y_te).item()
    last = nn.functional.mse_loss(z[:-horizon][washout:][split + horizon:], y_te).item()
    print(f"test mse {mse:.4f}   persistence mse {last:.4f}   variance {y_te.var().item():.4f}")


if __name__ == "__main__":
    main()
