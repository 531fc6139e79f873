# learnable filterbank for insect song, after the LEAF / SincNet idea
import math
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)
rng = np.random.default_rng(1)
SR, T, N_SPECIES = 4000, 2048, 6
CARRIER = [520, 600, 690, 790, 900, 1020]


def clips(n):
    y = rng.integers(0, N_SPECIES, n)
    t = np.arange(T) / SR
    f = np.array(CARRIER)[y] * (1 + 0.015 * rng.standard_normal(n))
    am = 0.5 + 0.5 * np.sin(2 * np.pi * rng.uniform(6, 14, n)[:, None] * t + rng.uniform(0, 6, n)[:, None])
    x = am * np.sin(2 * np.pi * f[:, None] * t + rng.uniform(0, 6, n)[:, None])
    hum = rng.uniform(0.2, 1.0, n)[:, None] * np.sin(2 * np.pi * rng.uniform(80, 300, n)[:, None] * t)
    x = x * rng.uniform(0.3, 1.0, n)[:, None] + hum + 0.7 * rng.standard_normal((n, T))
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


def robust_scale(e):
    e = np.log(e + 1e-4)
    mid = np.median(e, axis=-1, keepdims=True)
    mad = np.median(np.abs(e - mid), axis=-1, keepdims=True)
    return np.concatenate([(e - mid) / (mad + 0.3), np.broadcast_to(mid, e.shape)], axis=1)


class Frontend(nn.Module):
    def __init__(self, n_filters=8, width=129, hop=8):
        super().__init__()
        self.bank = nn.Conv1d(1, n_filters, width, stride=hop, padding=width // 2, bias=False)
        self.register_buffer("taper", torch.hann_window(width, periodic=False))

    def forward(self, wav):
        k = self.bank.weight * self.taper
        e = F.conv1d(wav.unsqueeze(1), k, stride=self.bank.stride, padding=self.bank.padding).pow(2)
        e = F.avg_pool1d(e, 9, stride=4, padding=4)
        return torch.from_numpy(robust_scale(e.detach().cpu().numpy())).to(wav)


class SongNet(nn.Module):
    def __init__(self, n_filters=8):
        super().__init__()
        self.front = Frontend(n_filters)
        self.body = nn.Sequential(
            nn.Conv1d(2 * n_filters, 32, 5, padding=2), nn.ReLU(),
            nn.Conv1d(32, 32, 5, padding=2, stride=2), nn.ReLU(),
            nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Dropout(0.1), nn.Linear(32, N_SPECIES))

    def forward(self, wav):
        return self.body(self.front(wav))


xtr, ytr = clips(1500)
xte, yte = clips(400)
net = SongNet()
opt = torch.optim.Adam([
    {"params": net.front.parameters(), "lr": 4e-3},
    {"params": net.body.parameters(), "lr": 2e-3},
])
EPOCHS, BS = 12, 32
total = EPOCHS * math.ceil(len(xtr) / BS)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=[4e-3, 2e-3], total_steps=total)

for epoch in range(EPOCHS):
    net.train()
    order, tot = torch.randperm(len(xtr)), 0.0
    for i in range(0, len(xtr), BS):
        b = order[i:i + BS]
        gain = 0.7 + 0.6 * torch.rand(len(b), 1)
        loss = F.cross_entropy(net(xtr[b] * gain), ytr[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        tot += loss.item() * len(b)
    net.eval()
    with torch.no_grad():
        acc = (net(xte).argmax(1) == yte).float().mean().item()
    print(f"{epoch:2d} train {tot / len(xtr):.3f} test acc {acc:.3f}")
