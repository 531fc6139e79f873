"""Pump condition from log spectrogram patches; the plant sends one patch at a time."""
import numpy as np
import torch
import torch.nn as nn

STATES = ["idle", "normal", "high_load", "cavitation", "bearing"]
LEVEL = {"idle": -1.2, "normal": 0.0, "high_load": 1.2, "cavitation": 0.5, "bearing": -0.4}


def patch(state, rng):
    s = 0.7 * rng.normal(size=(24, 24)) + LEVEL[state] + 0.15 * rng.normal()
    s[4:6] += 1.0
    if state == "cavitation":
        s[14:] += 0.6 * rng.random((10, 24))
    if state == "bearing":
        s[:, ::6] += 0.8
    return s.astype(np.float32)


def build(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(STATES), n)
    x = np.stack([patch(STATES[k], rng) for k in y])
    return torch.from_numpy(x).unsqueeze(1), torch.from_numpy(y)


def conv_bn(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU(inplace=True))


class PumpNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            conv_bn(1, 12), nn.MaxPool2d(2), conv_bn(12, 24), nn.MaxPool2d(2), conv_bn(24, 32),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, len(STATES)))

    def forward(self, x):
        return self.net(x)


def train(model, x, y, epochs=10, batch=48):
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=epochs)
    loss_fn = nn.CrossEntropyLoss()
    for ep in range(epochs):
        model.train()
        loss_sum = hits = 0
        for idx in torch.randperm(len(x)).split(batch):
            out = model(x[idx])
            loss = loss_fn(out, y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            loss_sum += loss.item() * len(idx)
            hits += (out.argmax(1) == y[idx]).sum().item()
        sched.step()
        print(f"epoch {ep:2d} loss {loss_sum / len(x):.4f} train acc {hits / len(x):.3f}")


def replay_stream(model, x, y):
    """Go through the held-out patches in order of arrival, as the plant would send them."""
    confusion = torch.zeros(len(STATES), len(STATES), dtype=torch.long)
    with torch.no_grad():
        for one, truth in zip(x, y):
            guess = model(one.unsqueeze(0)).argmax(1).item()
            confusion[truth, guess] += 1
    return confusion


if __name__ == "__main__":
    torch.manual_seed(13)
    model = PumpNet()
    train(model, *build(2400, 1))
    table = replay_stream(model, *build(500, 2))
    print(table)
    print("stream accuracy", table.diag().sum().item() / table.sum().item())
