import copy
import math
import torch
from torch import nn, autograd

torch.manual_seed(2)


def real_points(n):
    k = torch.randint(0, 8, (n,))
    ang = k.float() * math.pi / 4
    return torch.stack([ang.cos(), ang.sin()], 1) * 1.5 + 0.06 * torch.randn(n, 2)


class Generator(nn.Module):
    def __init__(self, z=8):
        super().__init__()
        self.z = z
        self.f = nn.Sequential(nn.Linear(z, 96), nn.LeakyReLU(.1), nn.Linear(96, 96), nn.LeakyReLU(.1), nn.Linear(96, 2))

    def forward(self, n):
        return self.f(torch.randn(n, self.z))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(2, 96), nn.LeakyReLU(.1), nn.Linear(96, 96), nn.LeakyReLU(.1), nn.Linear(96, 1))

    def forward(self, x):
        return self.f(x).squeeze(1)


class Duel:
    def __init__(self, steps=2000, critic_steps=3, batch=256, penalty=0.1):
        self.g, self.c = Generator(), Critic()
        self.g_avg = copy.deepcopy(self.g).eval().requires_grad_(False)
        # beta1 of 0: momentum hurts in a game
        self.og = torch.optim.Adam(self.g.parameters(), lr=1e-3, betas=(0.0, 0.99))
        self.oc = torch.optim.Adam(self.c.parameters(), lr=1e-3, betas=(0.0, 0.99))
        self.steps, self.critic_steps, self.batch, self.penalty = steps, critic_steps, batch, penalty

    def slope(self, real, fake):
        mix = torch.rand(real.shape[0], 1)
        x = (mix * real + (1 - mix) * fake).requires_grad_(True)
        grad, = autograd.grad(self.c(x).sum(), x, create_graph=True)
        return (grad.norm(dim=1) - 1).pow(2).mean()

    def critic_round(self):
        real = real_points(self.batch)
        fake = self.g(self.batch).detach()
        gap = self.c(real).mean() - self.c(fake).mean()
        loss = -gap + self.penalty * self.slope(real, fake)
        self.oc.zero_grad()
        loss.backward()
        self.oc.step()
        return gap.item()

    def generator_round(self):
        self.c.requires_grad_(False)
        loss = -self.c(self.g(self.batch)).mean()
        self.og.zero_grad()
        loss.backward()
        self.og.step()
        self.c.requires_grad_(True)
        with torch.no_grad():
            for a, p in zip(self.g_avg.parameters(), self.g.parameters()):
                a.mul_(0.99).add_(p, alpha=0.01)

    @torch.no_grad()
    def quality(self, gen):
        s = gen(4000)
        ang = torch.arange(8) * math.pi / 4
        centres = torch.stack([ang.cos(), ang.sin()], 1) * 1.5
        d, k = torch.cdist(s, centres).min(1)
        good = d < 0.25
        share = torch.bincount(k[good], minlength=8) / 4000
        return good.float().mean().item(), int((share > 0.04).sum())

    def fit(self):
        for i in range(self.steps + 1):
            for _ in range(self.critic_steps):
                gap = self.critic_round()
            self.generator_round()
            for o, top in ((self.og, 1e-3), (self.oc, 1e-3)):
                o.param_groups[0]["lr"] = top * (1 - 0.95 * i / self.steps)
            if i % 250 == 0:
                q, m = self.quality(self.g)
                qa, ma = self.quality(self.g_avg)
                print(f"{i:5d} gap {gap:.3f} | last: on target {q:.2f}, modes {m} | averaged: {qa:.2f}, modes {ma}")


Duel().fit()
