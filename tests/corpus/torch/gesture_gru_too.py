"""Recognise three arm gestures from a wrist accelerometer (x, y, z at 20 Hz)."""
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Gestures(Dataset):
    """Each gesture swings at its own pace; start phase and strength differ per person."""

    PACE = (0.6, 1.2, 2.2)

    def __init__(self, n, steps=40, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, 3, (n,), generator=g)
        t = torch.arange(steps) / 20.0
        pace = torch.tensor(self.PACE)[self.y].view(n, 1)
        phase = 2 * math.pi * torch.rand(n, 1, generator=g)
        amp = 0.8 + 0.4 * torch.rand(n, 1, generator=g)
        angle = 2 * math.pi * pace * t + phase
        axes = [amp * torch.sin(angle), amp * torch.cos(angle), 0.5 * amp * torch.sin(angle + 1.0)]
        self.x = torch.stack(axes, dim=-1)
        self.x = self.x + 0.15 * torch.randn(self.x.shape, generator=g)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class GestureGRU(nn.Module):
    def __init__(self, n_axes=3, hidden=32, n_classes=3):
        super().__init__()
        self.rnn = nn.GRU(n_axes, hidden, num_layers=1)
        self.head = nn.Linear(hidden, n_classes)

    def forward(self, x):
        out, _ = self.rnn(x)
        return self.head(out[:, -1, :])


def run_epoch(model, loader, opt=None):
    model.train(opt is not None)
    loss_sum = hits = seen = 0
    with torch.set_grad_enabled(opt is not None):
        for x, y in loader:
            logits = model(x)
            loss = nn.functional.cross_entropy(logits, y)
            if opt is not None:
                opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                opt.step()
            loss_sum += loss.item() * len(y)
            hits += (logits.argmax(-1) == y).sum().item()
            seen += len(y)
    return loss_sum / seen, hits / seen


def main():
    torch.manual_seed(0)
    train = DataLoader(Gestures(1200, seed=1), batch_size=32, shuffle=True)
    valid = DataLoader(Gestures(300, seed=2), batch_size=32)
    model = GestureGRU()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(8):
        tl, ta = run_epoch(model, train, opt)
        vl, va = run_epoch(model, valid)
        print(f"epoch {epoch}: train {tl:.3f}/{ta:.3f}  valid {vl:.3f}/{va:.3f}")


if __name__ == "__main__":
    main()
