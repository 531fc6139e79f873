# Siamese net: do two pen strokes come from the same hand?
import numpy as np
import torch
from torch import nn

torch.manual_seed(21)
rng = np.random.default_rng(21)

WRITERS, PER_WRITER, T = 40, 12, 32
t = np.linspace(0, 1, T)


def strokes():
    bank = np.zeros((WRITERS, PER_WRITER, 2, T), np.float32)
    for w in range(WRITERS):
        amp = rng.normal(0, 1, (2, 4))
        ph = rng.uniform(0, 2 * np.pi, (2, 4))
        for s in range(PER_WRITER):
            a = amp + rng.normal(0, 0.12, amp.shape)
            p = ph + rng.normal(0, 0.15, ph.shape)
            for ax in range(2):
                bank[w, s, ax] = sum(a[ax, k] * np.sin(2 * np.pi * (k + 1) * t + p[ax, k]) for k in range(4))
    bank += rng.normal(0, 0.1, bank.shape).astype(np.float32)
    return torch.from_numpy(bank)


bank = strokes()
train_w, test_w = np.arange(0, 30), np.arange(30, WRITERS)


def pairs(writers, n):
    same = torch.from_numpy(rng.random(n) < 0.5)
    w1 = rng.choice(writers, n)
    w2 = np.where(same.numpy(), w1, rng.choice(writers, n))
    same = torch.from_numpy((w1 == w2).astype(np.float32))
    s1, s2 = rng.integers(0, PER_WRITER, n), rng.integers(0, PER_WRITER, n)
    return bank[w1, s1], bank[w2, s2], same


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(2, 24, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(24, 32, 5, padding=2), nn.ReLU(), nn.MaxPool1d(2),
            nn.Flatten(), nn.Linear(32 * T // 4, 64), nn.ReLU(), nn.Linear(64, 16),
        )

    def forward(self, x):
        return self.body(x)


def distance(a, b):
    return torch.sqrt(((a - b) ** 2).sum(dim=1) + 1e-8)


def contrastive(d, same, margin=2.0):
    near = same * d.pow(2)
    far = (1 - same) * torch.relu(margin - d).pow(2)
    return (near + far).mean()


enc = Encoder()
opt = torch.optim.Adam(enc.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.StepLR(opt, step_size=500, gamma=0.5)

avg = None
for step in range(1, 1501):
    a, b, same = pairs(train_w, 64)
    loss = contrastive(distance(enc(a), enc(b)), same)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    avg = loss.item() if avg is None else 0.98 * avg + 0.02 * loss.item()
    if step % 150 == 0:
        enc.eval()
        with torch.no_grad():
            a, b, same = pairs(test_w, 1000)
            d = distance(enc(a), enc(b))
            acc = ((d < 1.0).float() == same).float().mean().item()
        enc.train()
        print(f"step {step:4d}  loss {avg:.4f}  new-writer accuracy {acc:.3f}")
