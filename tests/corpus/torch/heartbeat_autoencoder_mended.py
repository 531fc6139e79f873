"""Arrhythmia screening: an autoencoder learns normal beats, odd beats reconstruct badly."""
import os

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch import nn

LENGTH = 96


def beat(rng, odd):
    t = np.linspace(-0.4, 0.6, LENGTH)

    def bump(centre, width, height):
        c = centre + rng.normal(0, 0.012)
        return height * rng.normal(1, 0.12) * np.exp(-((t - c) / width) ** 2)

    if not odd:
        wave = (bump(-0.18, 0.035, 0.2) - bump(-0.035, 0.012, 0.2) + bump(0, 0.014, 1.3)
                - bump(0.035, 0.013, 0.3) + bump(0.25, 0.06, 0.35))
    else:
        style = rng.integers(3)
        if style == 0:    # missing P wave, wide QRS
            wave = bump(0, 0.035, 1.2) - bump(0.08, 0.03, 0.4) + bump(0.28, 0.06, 0.3)
        elif style == 1:  # ST elevation
            wave = bump(-0.18, 0.035, 0.2) + bump(0, 0.014, 1.3) + bump(0.13, 0.07, 0.3) + bump(0.25, 0.06, 0.35)
        else:             # inverted T wave
            wave = (bump(-0.18, 0.035, 0.2) - bump(-0.035, 0.012, 0.2) + bump(0, 0.014, 1.3)
                    - bump(0.035, 0.013, 0.3) - bump(0.25, 0.06, 0.3))
    wave = wave * rng.uniform(0.7, 1.3) + rng.uniform(-0.2, 0.2) * t
    return wave + rng.normal(0, 0.04, LENGTH)


def record(n, share_odd, seed):
    rng = np.random.default_rng(seed)
    odd = rng.random(n) < share_odd
    x = np.stack([beat(rng, o) for o in odd]).astype("float32")
    return torch.from_numpy(x), odd.astype(int)


class BeatAE(nn.Module):
    def __init__(self, code=6):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(LENGTH, 64), nn.Tanh(), nn.Linear(64, code))
        self.dec = nn.Sequential(nn.Linear(code, 64), nn.Tanh(), nn.Linear(64, LENGTH))

    def forward(self, x):
        return self.dec(self.enc(x))


def batches(x, size, generator):
    order = torch.randperm(len(x), generator=generator)
    for i in range(0, len(x) - size + 1, size):
        yield x[order[i:i + size]]


def errors(model, x):
    model.eval()
    with torch.no_grad():
        return ((model(x) - x) ** 2).mean(1)


def train(model, x_train, x_val, epochs=40, size=64, lr=3e-3):
    g = torch.Generator().manual_seed(1)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=15, gamma=0.5)
    history = []
    for epoch in range(epochs):
        model.train()
        for xb in batches(x_train, size, g):
            loss = nn.functional.mse_loss(model(xb), xb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        scheduler.step()
        history.append(errors(model, x_val).mean().item())
        if (epoch + 1) % 5 == 0:
            print(f"epoch {epoch + 1:2d}: train {loss.item():.5f}  val {history[-1]:.5f}")
    return history


def main():
    torch.manual_seed(0)
    os.makedirs("out", exist_ok=True)
    x_train, _ = record(3000, 0.0, 1)
    x_val, _ = record(500, 0.0, 2)
    x_test, odd = record(1500, 0.2, 3)

    centre, scale = x_train.mean(0), x_train.std()
    x_train, x_val, x_test = [(x - centre) / scale for x in (x_train, x_val, x_test)]

    model = BeatAE()
    history = train(model, x_train, x_val)
    np.savetxt("out/heartbeat_history.txt", history)

    score = errors(model, x_test).numpy()
    energy = (x_test ** 2).mean(1).numpy()
    print(f"reconstruction error by the mean beat {errors(mean_beat_model(), x_val).mean():.5f}, "
          f"AUC by beat energy {roc_auc_score(odd, energy):.3f}")
    print(f"reconstruction error {history[-1]:.5f}, AUC for odd beats {roc_auc_score(odd, score):.3f}")


def mean_beat_model():
    """The mean beat is zero after centring."""
    class Zero(nn.Module):
        def forward(self, x):
            return torch.zeros_like(x)
    return Zero()


if __name__ == "__main__":
    main()
