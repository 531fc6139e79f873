# Soft sensor: sugar content (Brix) of juice from near infrared spectra
import numpy as np
import torch
from torch import nn

np.random.seed(1)
torch.manual_seed(1)

wavelengths = np.linspace(900, 1700, 80)


def band(center, width):
    return np.exp(-0.5 * ((wavelengths - center) / width) ** 2)


def measure(n):
    brix = np.random.uniform(6, 22, n)
    acid = np.random.uniform(0.2, 1.6, n)
    water = 100 - brix - acid
    spec = 0.02 * water[:, None] * band(1450, 60) + 0.05 * brix[:, None] * band(1200, 45) + 0.3 * acid[:, None] * band(1380, 30)
    scatter = np.random.normal(1.0, 0.05, (n, 1))
    offset = np.random.normal(0, 0.05, (n, 1))
    noisy = scatter * spec + offset + np.random.normal(0, 0.01, spec.shape)
    return noisy.astype(np.float32), brix.astype(np.float32)


def snv(s):
    # standard normal variate, the usual scatter correction
    return (s - s.mean(1, keepdims=True)) / s.std(1, keepdims=True)


Xtr, ytr = measure(400)
Xte, yte = measure(200)
Xtr, Xte = snv(Xtr), snv(Xte)
mu, sd = Xtr.mean(0), Xtr.std(0)
Xtr, Xte = torch.tensor((Xtr - mu) / sd), torch.tensor((Xte - mu) / sd)
y_mu, y_sd = ytr.mean(), ytr.std()
target = torch.tensor((ytr - y_mu) / y_sd).unsqueeze(1)

model = nn.Sequential(nn.Linear(80, 24), nn.Tanh(), nn.Linear(24, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=10, history_size=20)


class Objective:
    """What LBFGS calls as often as it likes within one step."""

    def __init__(self, model, x, y, ridge=1e-4):
        self.model, self.x, self.y, self.ridge = model, x, y, ridge
        self.calls = 0

    def __call__(self):
        self.calls += 1
        fit = nn.functional.mse_loss(self.model(self.x), self.y)
        penalty = sum(p.square().sum() for p in self.model.parameters() if p.dim() > 1)
        loss = fit + self.ridge * penalty
        loss.backward()
        return loss


def rmsep(x, y):
    with torch.no_grad():
        pred = model(x).squeeze(1).numpy() * y_sd + y_mu
    return float(np.sqrt(np.mean((pred - y) ** 2)))


objective = Objective(model, Xtr, target)
print("spectra:", tuple(Xtr.shape), " std of Brix in the test set: %.2f" % yte.std())
for it in range(1, 41):
    loss = optimizer.step(objective)
    if it % 4 == 0:
        print("iter %3d | calls %4d | loss %.5f | RMSEP %.3f Brix" % (it, objective.calls, loss.item(), rmsep(Xte, yte)))
