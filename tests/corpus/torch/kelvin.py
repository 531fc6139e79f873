"""Calibrate a thermistor: predict temperature and its uncertainty from resistance and supply voltage."""
import torch
from torch import nn

torch.manual_seed(13)
n = 2000
kelvin = torch.rand(n, 1) * 80 + 260
volts = torch.rand(n, 1) * 2 + 3
resist = 10 * torch.exp(3400 * (1 / kelvin - 1 / 298.15)) * (1 + 0.01 * torch.randn(n, 1) * (kelvin - 255) / 20)
x = torch.cat([resist.log(), volts, resist.log() * volts], dim=1)
x = (x - x.mean(0)) / x.std(0)
y = (kelvin - 300) / 25
x_train, y_train, x_test, y_test = x[:1600], y[:1600], x[1600:], y[1600:]


class Probe(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(3, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh())
        self.mean = nn.Linear(48, 1)
        self.raw_var = nn.Linear(48, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.mean(h), nn.functional.softplus(self.raw_var(h)) + 1e-5


probe = Probe()
optimizer = torch.optim.AdamW(probe.parameters(), lr=4e-3)
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, total_iters=60)
criterion = nn.GaussianNLLLoss()

for epoch in range(1, 61):
    probe.train()
    losses = []
    for i in torch.randperm(1600).split(80):
        mean, var = probe(x_train[i])
        loss = criterion(mean, y_train[i], var)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(probe.parameters(), 5.0)
        optimizer.step()
        losses.append(loss.item())
    scheduler.step()
    if epoch % 10 == 0:
        probe.eval()
        with torch.no_grad():
            mean, var = probe(x_test)
        rmse = 25 * (mean - y_test).pow(2).mean().sqrt().item()
        inside = ((mean - y_test).abs() < 1.96 * var.sqrt()).float().mean().item()
        print(f"epoch {epoch}  nll {sum(losses) / len(losses):.3f}  test rmse {rmse:.2f} K  95% band holds {inside:.3f}")
