"""Next-step forecast of a long hourly load curve with a recurrent net carried along the series."""
import numpy as np
import torch
from torch import nn

N_LANES, CHUNK = 8, 48


def make_series(n=12000, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    noise = np.zeros(n)
    for i in range(1, n):
        noise[i] = 0.7 * noise[i - 1] + rng.normal(scale=0.15)
    weekday = ((t // 24) % 7 < 5).astype(float)
    return (50 + 8 * np.sin(2 * np.pi * t / 24) * (0.6 + 0.4 * weekday)
            + 5 * weekday + 3 * noise).astype("float32")


class LoadNet(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        h, state = self.rnn(x, state)
        return x + self.out(h), state


def lanes(series):
    usable = (len(series) - 1) // N_LANES * N_LANES
    x = torch.tensor(series[:usable]).view(N_LANES, -1, 1)
    y = torch.tensor(series[1:usable + 1]).view(N_LANES, -1, 1)
    return x, y


def train(model, series, epochs=12):
    x, y = lanes(series)
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(epochs):
        state, losses = None, []
        for start in range(0, x.shape[1] - CHUNK + 1, CHUNK):
            pred, state = model(x[:, start:start + CHUNK], state)
            loss = nn.functional.mse_loss(pred, y[:, start:start + CHUNK])
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            state = state.detach()
            losses.append(loss.item())
        if epoch % 3 == 2:
            print(f"epoch {epoch + 1}: mse {np.mean(losses):.4f}")
    return state


def main():
    torch.manual_seed(0)
    raw = make_series()
    cut = int(0.8 * len(raw))
    mean, std = raw[:cut].mean(), raw[:cut].std()
    series = (raw - mean) / std

    model = LoadNet()
    train(model, series[:cut])

    model.eval()
    with torch.no_grad():
        _, state = model(torch.tensor(series[cut - 500:cut]).view(1, -1, 1))
        test = torch.tensor(series[cut:]).view(1, -1, 1)
        pred, _ = model(test[:, :-1], state)
    err = (pred - test[:, 1:]).abs().mean().item() * std
    naive = (test[:, 1:] - test[:, :-1]).abs().mean().item() * std
    print(f"test MAE {err:.3f}   last-value baseline {naive:.3f}   ratio {err / naive:.3f}")


if __name__ == "__main__":
    main()
