"""Delivery time in days with a predicted spread per order."""
import numpy as np
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_in, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU())
        self.mu = nn.Linear(64, 1)
        self.log_var = nn.Linear(64, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.mu(h).squeeze(1), self.log_var(h).squeeze(1).clamp(-10, 5)


def make_orders(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, size=(n, 6)).astype("float32")
    spread = 0.02 + 0.1 / (1 + np.exp(-4 * x[:, 3]))
    y = np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + spread * rng.normal(size=n)
    return torch.from_numpy(x), torch.tensor(y, dtype=torch.float32)


def nll(mu, log_var, y):
    return 0.5 * (log_var + (y - mu) ** 2 / log_var.exp()).mean()


def main():
    torch.manual_seed(0)
    x, y = make_orders(6000, 1)
    x_test, y_test = make_orders(1500, 2)
    net = Net(x.shape[1])
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    accumulate, micro, epochs = 4, 32, 30
    steps_per_epoch = -(-len(y) // micro)
    sched = torch.optim.lr_scheduler.OneCycleLR(
        opt, max_lr=4e-3, total_steps=epochs * (steps_per_epoch // accumulate))

    for epoch in range(1, epochs + 1):
        chunks = torch.randperm(len(y)).split(micro)
        chunks = chunks[:len(chunks) // accumulate * accumulate]
        running = 0.0
        for i, rows in enumerate(chunks, 1):
            mu, log_var = net(x[rows])
            if epoch <= 3:
                loss = (mu - y[rows]).pow(2).mean()
            else:
                loss = nll(mu, log_var, y[rows])
            (loss / accumulate).backward()
            running += loss.item()
            if i % accumulate == 0:
                opt.step()
                sched.step()
                opt.zero_grad(set_to_none=True)
        if epoch in (1, 3, 4) or epoch % 5 == 0:
            print(f"epoch {epoch:2d} loss {running / len(chunks):+.4f}")

    with torch.no_grad():
        mu, log_var = net(x_test)
        rmse = (mu - y_test).pow(2).mean().sqrt().item()
        inside = ((y_test - mu).abs() < 1.96 * (0.5 * log_var).exp()).float().mean().item()
        print(f"test nll {nll(mu, log_var, y_test).item():.4f}  rmse {rmse:.4f} "
              f"(mean predictor {y_test.std().item():.4f})  95% interval covers {inside:.3f}")


if __name__ == "__main__":
    main()
