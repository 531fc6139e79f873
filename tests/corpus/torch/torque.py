"""Motor torque in N mm (around 48000) with an uncertainty for each prediction."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class TorqueNet(nn.Module):
    def __init__(self, x_mean, x_std, y_mean, y_std):
        super().__init__()
        for name, value in dict(x_mean=x_mean, x_std=x_std, y_mean=y_mean, y_std=y_std).items():
            self.register_buffer(name, value)
        self.body = nn.Sequential(nn.Linear(4, 48), nn.SiLU(), nn.Linear(48, 48), nn.SiLU())
        self.mean = nn.Linear(48, 1)
        self.log_var = nn.Linear(48, 1)
        nn.init.zeros_(self.log_var.weight)
        nn.init.zeros_(self.log_var.bias)

    def forward(self, x):
        z = self.body((x - self.x_mean) / self.x_std)
        return self.mean(z).squeeze(-1), self.log_var(z).squeeze(-1).clamp(-12, 6)

    @torch.no_grad()
    def predict(self, x):
        mean, log_var = self(x)
        return mean * self.y_std + self.y_mean, torch.exp(0.5 * log_var) * self.y_std


def bench(n, seed):
    rng = np.random.default_rng(seed)
    rpm = rng.uniform(800, 6000, n)
    amps = rng.uniform(20, 180, n)
    heat = rng.uniform(290, 380, n)
    bar = rng.uniform(99000, 103000, n)
    noise = rng.normal(0, 1, n) * (5 + rpm / 100)
    torque = 48000 + 18 * amps - 0.0001 * (rpm - 3000) ** 2 * (heat / 300) + noise
    x = np.stack([rpm, amps, heat, bar], 1)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(torque, dtype=torch.float32)


torch.manual_seed(6)
x, y = bench(4000, 1)
xt, yt = bench(800, 2)
net = TorqueNet(x.mean(0), x.std(0), y.mean(), y.std())
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
nll = nn.GaussianNLLLoss()
loader = DataLoader(TensorDataset(x, y), batch_size=100, shuffle=True)

for epoch in range(20):
    total = 0.0
    for xb, yb in loader:
        mean, log_var = net(xb)
        loss = nll(mean, (yb - net.y_mean) / net.y_std, log_var.exp())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        opt.step()
        total += loss.item()
    if epoch % 4 == 3:
        pred, sigma = net.predict(xt)
        r2 = 1 - ((pred - yt) ** 2).sum() / ((yt - yt.mean()) ** 2).sum()
        cover = ((pred - yt).abs() < 1.96 * sigma).float().mean()
        print(f"epoch {epoch + 1:2d} nll {total / len(loader):.3f} r2 {r2:.4f} 95% coverage {cover:.3f}")
