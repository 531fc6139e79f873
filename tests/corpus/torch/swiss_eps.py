"""DDPM on a 2-D swiss roll, epsilon parameterisation, with an EMA of the weights for sampling."""
import math

import numpy as np
import torch
import torch.nn as nn

T = 100
BATCH = 256
STEPS = 2500


def swiss_roll(n, rng):
    t = 1.5 * math.pi * (1 + 2 * rng.random(n))
    pts = np.stack([t * np.cos(t), t * np.sin(t)], 1) + rng.normal(0, 0.3, (n, 2))
    pts = (pts - pts.mean(0)) / pts.std(0)
    return torch.tensor(pts, dtype=torch.float32)


def cosine_betas(steps, s=0.008):
    t = torch.linspace(0, 1, steps + 1, dtype=torch.float64)
    bar = torch.cos((t + s) / (1 + s) * math.pi / 2) ** 2
    return (1 - bar[1:] / bar[:-1]).clamp(max=0.999).float()


class TimeEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.register_buffer("freq", torch.exp(torch.linspace(0, -math.log(1000), dim // 2)))

    def forward(self, t):
        a = t.float()[:, None] * self.freq[None]
        return torch.cat([a.sin(), a.cos()], -1)


class Denoiser(nn.Module):
    def __init__(self, data_dim=2, time_dim=32, hidden=128, depth=3):
        super().__init__()
        self.time = TimeEmbedding(time_dim)
        dims = [data_dim + time_dim] + [hidden] * depth + [data_dim]
        layers = []
        for a, b in zip(dims[:-1], dims[1:]):
            layers += [nn.Linear(a, b), nn.ReLU()]
        self.net = nn.Sequential(*layers)

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], -1))


class EMA:
    def __init__(self, model, decay=0.995):
        self.decay = decay
        self.shadow = {k: v.detach().clone() for k, v in model.state_dict().items()}

    @torch.no_grad()
    def update(self, model):
        for k, v in model.state_dict().items():
            self.shadow[k].lerp_(v, 1 - self.decay)


betas = cosine_betas(T)
alphas = 1 - betas
alpha_bar = alphas.cumprod(0)


def q_sample(x0, t, eps):
    ab = alpha_bar[t][:, None]
    return ab.sqrt() * x0 + (1 - ab).sqrt() * eps


@torch.no_grad()
def sample(model, n):
    x = torch.randn(n, 2)
    for i in reversed(range(T)):
        t = torch.full((n,), i)
        eps = model(x, t)
        mean = (x - betas[i] / (1 - alpha_bar[i]).sqrt() * eps) / alphas[i].sqrt()
        x = mean + (betas[i].sqrt() * torch.randn_like(x) if i > 0 else 0)
    return x


def sliced_w1(a, b, n_proj=64):
    d = torch.randn(2, n_proj)
    d = d / d.norm(dim=0)
    return ((a @ d).sort(0).values - (b @ d).sort(0).values).abs().mean().item()


def main():
    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    data = swiss_roll(8000, rng)
    held = swiss_roll(2000, rng)

    model = Denoiser()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, STEPS, eta_min=1e-5)
    ema = EMA(model)
    window = []
    for step in range(1, STEPS + 1):
        x0 = data[torch.randint(0, len(data), (BATCH,))]
        t = torch.randint(0, T, (BATCH,))
        eps = torch.randn_like(x0)
        loss = ((model(q_sample(x0, t, eps), t) - eps) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        ema.update(model)
        window.append(loss.item())
        if step % 250 == 0:
            print(f"step {step:5d}  loss {np.mean(window[-250:]):.4f}")

    model.load_state_dict(ema.shadow)
    fake = sample(model, 2000)
    print("sliced W1: samples %.4f, noise %.4f" % (sliced_w1(fake, held), sliced_w1(torch.randn(2000, 2), held)))


if __name__ == "__main__":
    main()
