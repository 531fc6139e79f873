"""DDPM on short synthetic signals with a small event-driven engine."""
import math

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

CFG = dict(length=32, width=256, timesteps=100, epochs=6, batch=64, lr=1e-3, warmup=1000)


def make_signals(n, length):
    t = torch.linspace(0, 1, length)
    freq = torch.randint(1, 4, (n, 1)).float()
    phase = torch.rand(n, 1) * 2 * math.pi
    amp = 0.8 + 0.4 * torch.rand(n, 1)
    return amp * torch.sin(2 * math.pi * freq * t + phase) * math.sqrt(2)


class Denoiser(nn.Module):
    def __init__(self, length, width, timesteps):
        super().__init__()
        self.time = nn.Embedding(timesteps, width)
        self.inp = nn.Linear(length, width)
        self.mid = nn.ModuleList([nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.SiLU(),
                                                nn.Linear(width, width)) for _ in range(3)])
        self.out = nn.Linear(width, length)

    def forward(self, x, t):
        h = self.inp(x) + self.time(t)
        for m in self.mid:
            h = h + m(h)
        return self.out(h)


class Callback:
    def on_batch_end(self, engine): ...
    def on_epoch_end(self, engine): ...


class WarmupCosine(Callback):
    def __init__(self, opt, warmup, total):
        def factor(s):
            if s < warmup:
                return (s + 1) / warmup
            return 0.5 * (1 + math.cos(math.pi * (s - warmup) / max(1, total - warmup)))
        self.sched = torch.optim.lr_scheduler.LambdaLR(opt, factor)

    def on_epoch_end(self, engine):
        self.sched.step()


class Printer(Callback):
    def __init__(self):
        self.buf = []

    def on_batch_end(self, engine):
        self.buf.append(engine.loss)

    def on_epoch_end(self, engine):
        print(f"epoch {engine.epoch}: noise mse {sum(self.buf) / len(self.buf):.4f}")
        self.buf.clear()


class Engine:
    def __init__(self, model, opt, timesteps, callbacks):
        self.model, self.opt, self.callbacks = model, opt, callbacks
        beta = torch.linspace(1e-4, 0.08, timesteps)
        self.alpha_bar = torch.cumprod(1 - beta, 0)
        self.epoch, self.loss = 0, None

    def fire(self, event):
        for cb in self.callbacks:
            getattr(cb, event)(self)

    def noise_loss(self, x):
        t = torch.randint(0, len(self.alpha_bar), (len(x),))
        a = self.alpha_bar[t].unsqueeze(1)
        eps = torch.randn_like(x)
        return (self.model(a.sqrt() * x + (1 - a).sqrt() * eps, t) - eps).pow(2).mean()

    def fit(self, loader, epochs):
        for self.epoch in range(epochs):
            self.model.train()
            for (x,) in loader:
                loss = self.noise_loss(x)
                self.opt.zero_grad(set_to_none=True)
                loss.backward()
                self.opt.step()
                self.loss = loss.item()
                self.fire("on_batch_end")
            self.fire("on_epoch_end")


torch.manual_seed(3)
loader = DataLoader(TensorDataset(make_signals(20000, CFG["length"])), batch_size=CFG["batch"], shuffle=True)
held_out = make_signals(2000, CFG["length"])
model = Denoiser(CFG["length"], CFG["width"], CFG["timesteps"])
opt = torch.optim.AdamW(model.parameters(), lr=CFG["lr"])
hooks = [WarmupCosine(opt, CFG["warmup"], len(loader) * CFG["epochs"]), Printer()]
engine = Engine(model, opt, CFG["timesteps"], hooks)
engine.fit(loader, CFG["epochs"])
model.eval()
with torch.no_grad():
    print(f"held-out noise mse {engine.noise_loss(held_out).item():.4f} (predicting zero gives 1.0)")
