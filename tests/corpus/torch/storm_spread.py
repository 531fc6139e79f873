"""Encoder with a noise head: predicts wind and its own doubt; the latent part is warmed up."""
import torch
from torch import nn

torch.manual_seed(9)


def weather(n):
    x = torch.randn(n, 6)
    mean = torch.sin(1.5 * x[:, 0]) + 0.5 * x[:, 1] * x[:, 2]
    spread = 0.02 + 0.15 * torch.sigmoid(2 * x[:, 3])
    return x, mean + spread * torch.randn(n), spread


class WindModel(nn.Module):
    def __init__(self, z=4, free_nats=0.25):
        super().__init__()
        self.free = free_nats
        self.trunk = nn.Sequential(nn.Linear(6, 96), nn.SiLU(), nn.Linear(96, 96), nn.SiLU())
        self.stats = nn.Linear(96, 2 * z)
        self.read = nn.Sequential(nn.Linear(96 + z, 96), nn.SiLU(), nn.Linear(96, 2))
        nn.init.zeros_(self.stats.weight)
        nn.init.zeros_(self.stats.bias)

    def forward(self, x):
        h = self.trunk(x)
        mu, logvar = self.stats(h).chunk(2, -1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp() if self.training else mu
        kl = 0.5 * (mu ** 2 + logvar.exp() - 1 - logvar)
        kl = kl.mean(0).clamp(min=self.free / mu.size(1)).sum()
        mean, log_s = self.read(torch.cat([h, z], -1)).unbind(-1)
        return mean, log_s.clamp(-6, 3), kl


def gaussian_nll(mean, log_s, y):
    return (log_s + 0.5 * ((y - mean) * (-log_s).exp()) ** 2).mean()


x, y, _ = weather(24000)
xt, yt, st = weather(2000)
model = WindModel()
opt = torch.optim.AdamW([
    {"params": model.trunk.parameters(), "lr": 2e-3, "weight_decay": 1e-4},
    {"params": list(model.stats.parameters()) + list(model.read.parameters()), "lr": 2e-3, "weight_decay": 0.0},
])
EPOCHS = 32
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, EPOCHS, eta_min=2e-5)

for epoch in range(EPOCHS):
    model.train()
    beta = min(1.0, epoch / 10) * 0.05
    tot = 0.0
    for idx in torch.randperm(len(x)).split(128):
        mean, log_s, kl = model(x[idx])
        loss = gaussian_nll(mean, log_s, y[idx]) + beta * kl
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        tot += loss.item() * len(idx)
    sched.step()
    if (epoch + 1) % 4 == 0:
        model.eval()
        with torch.no_grad():
            mean, log_s, _ = model(xt)
            nll = gaussian_nll(mean, log_s, yt).item()
            r = torch.corrcoef(torch.stack([log_s.exp(), st]))[0, 1].item()
            r2 = 1 - ((mean - yt) ** 2).mean().item() / yt.var().item()
        print(f"epoch {epoch + 1} loss {tot / len(x):.3f} test nll {nll:.3f} r2 {r2:.3f} spread corr {r:.2f}")
