import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(2)
x = torch.rand(3000, 1) * 4 - 2
noise = 0.02 + 0.08 * (x > 0)
y = torch.sin(2 * x) + noise * torch.randn_like(x)


class MeanAndSpread(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.mu = nn.Linear(64, 1)
        self.log_sigma = nn.Linear(64, 1)

    def forward(self, x):
        h = self.body(x)
        return Normal(self.mu(h), self.log_sigma(h).clamp(-6, 3).exp())


model = MeanAndSpread()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
for epoch in range(12):
    for idx in torch.randperm(2400).split(48):
        nll = -model(x[idx]).log_prob(y[idx]).mean()
        opt.zero_grad()
        nll.backward()
        opt.step()
    with torch.no_grad():
        held = -model(x[2400:]).log_prob(y[2400:]).mean().item()
    print(f"epoch {epoch} train {nll.item():.3f} held out {held:.3f}")
