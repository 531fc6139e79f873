"""Hourly net heat exchange of a building, predicted by a small ensemble of MLPs."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SEEDS = [3, 14, 15, 92, 65]
HIDDEN = (32, 32)
EPOCHS = 25


def simulate(n=3000, seed=7):
    rng = np.random.default_rng(seed)
    hour = rng.integers(0, 24, n)
    outside = 12 + 9 * np.sin((hour - 9) / 24 * 2 * np.pi) + rng.normal(0, 6, n)
    sun = np.clip(np.sin((hour - 6) / 12 * np.pi), 0, None) * rng.uniform(100, 900, n)
    wind = rng.gamma(2.0, 2.0, n)
    people = rng.poisson(4, n) * ((hour > 7) & (hour < 19))
    setpoint = rng.choice([18.0, 20.0, 22.0], n)
    heat = (0.35 + 0.04 * wind) * (outside - setpoint) + 0.006 * sun + 0.11 * people
    heat += rng.normal(0, 0.4, n)
    x = np.stack([np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi),
                  outside, sun, wind, people, setpoint], axis=1)
    return x.astype("float32"), heat.astype("float32")


def split_and_scale(x, y, n_train=2400):
    mu, sd = x[:n_train].mean(0), x[:n_train].std(0)
    x = (x - mu) / sd
    ym, ys = y[:n_train].mean(), y[:n_train].std()
    y = (y - ym) / ys
    xt, yt = torch.from_numpy(x), torch.from_numpy(y).unsqueeze(1)
    return (xt[:n_train], yt[:n_train]), (xt[n_train:], yt[n_train:]), ys


def make_mlp(n_in, hidden=HIDDEN, n_out=1):
    sizes = [n_in, *hidden, n_out]
    layers = []
    for i in range(len(sizes) - 1):
        layers.append(nn.Linear(sizes[i], sizes[i + 1]))
        layers.append(nn.ReLU())
    return nn.Sequential(*layers)


def train_member(seed, train, n_in):
    torch.manual_seed(seed)
    model = make_mlp(n_in)
    opt = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-5)
    loader = DataLoader(TensorDataset(*train), batch_size=64, shuffle=True)
    loss_fn = nn.MSELoss()
    for epoch in range(EPOCHS):
        model.train()
        running = 0.0
        for xb, yb in loader:
            opt.zero_grad()
            loss = loss_fn(model(xb), yb)
            loss.backward()
            opt.step()
            running += loss.item() * len(xb)
        if epoch % 8 == 0:
            print(f"  seed {seed:3d} epoch {epoch:2d} train mse {running / len(train[0]):.4f}")
    return model


def r2(pred, y):
    return 1 - ((pred - y) ** 2).sum().item() / ((y - y.mean()) ** 2).sum().item()


def main():
    x, y = simulate()
    train, test, scale = split_and_scale(x, y)
    members, scores = [], []
    for seed in SEEDS:
        m = train_member(seed, train, x.shape[1]).eval()
        with torch.no_grad():
            p = m(test[0])
        members.append(p)
        scores.append(r2(p, test[1]))
    mean = torch.stack(members).mean(0)
    rmse = (mean - test[1]).pow(2).mean().sqrt().item() * scale
    print("member r2:", " ".join(f"{s:.3f}" for s in scores))
    print(f"ensemble test r2 {r2(mean, test[1]):.4f}  rmse {rmse:.3f} kW")


if __name__ == "__main__":
    main()
