import math

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SENSORS = 24
gen = np.random.default_rng(23)
torch.manual_seed(23)
MIX = gen.normal(size=(4, SENSORS))


def healthy_pump(n):
    state = gen.normal(size=(n, 4))
    readings = np.tanh(state @ MIX * 0.6) + 0.05 * gen.normal(size=(n, SENSORS))
    return readings.astype("float32")


def faulty_pump(n):
    readings = healthy_pump(n)
    swapped = readings.copy()
    for col in gen.choice(SENSORS, size=10, replace=False):
        swapped[:, col] = gen.permutation(readings[:, col])
    return swapped


class Autoencoder(nn.Module):
    def __init__(self, n_in, code=5):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(n_in, 64), nn.GELU(), nn.Linear(64, code))
        self.dec = nn.Sequential(nn.Linear(code, 64), nn.GELU(), nn.Linear(64, n_in))

    def forward(self, x):
        return self.dec(self.enc(x))


def warmup_cosine(total, warmup):
    def factor(step):
        if step < warmup:
            return (step + 1) / warmup
        progress = (step - warmup) / max(1, total - warmup)
        return 0.5 * (1 + math.cos(math.pi * min(1.0, progress)))
    return factor


def train(model, loader, epochs=30, peak=4e-3):
    opt = torch.optim.AdamW(model.parameters(), lr=peak, weight_decay=1e-4)
    total = epochs * len(loader)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, warmup_cosine(total, total // 10))
    for epoch in range(epochs):
        model.train()
        losses = []
        for (x,) in loader:
            opt.zero_grad()
            noisy = x + 0.05 * torch.randn_like(x)
            loss = nn.functional.mse_loss(model(noisy), x)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            sched.step()
            losses.append(loss.item())
        if epoch % 6 == 0 or epoch == epochs - 1:
            print(f"epoch {epoch:2d}  loss {np.mean(losses):.4f}  lr {sched.get_last_lr()[0]:.2e}")


@torch.no_grad()
def anomaly_score(model, x):
    model.eval()
    x = torch.from_numpy(x)
    return ((model(x) - x) ** 2).mean(1).numpy()


train_x = healthy_pump(3000)
mu, sd = train_x.mean(0), train_x.std(0)
scale = lambda a: ((a - mu) / sd).astype("float32")
loader = DataLoader(TensorDataset(torch.from_numpy(scale(train_x))), batch_size=64, shuffle=True)
model = Autoencoder(SENSORS)
train(model, loader)

normal, broken = scale(healthy_pump(600)), scale(faulty_pump(600))
score = np.concatenate([anomaly_score(model, normal), anomaly_score(model, broken)])
truth = np.r_[np.zeros(600), np.ones(600)]
print(f"reconstruction error on normal readings {score[:600].mean():.4f} (variance {normal.var():.4f})")
print(f"ROC AUC {roc_auc_score(truth, score):.3f}")
