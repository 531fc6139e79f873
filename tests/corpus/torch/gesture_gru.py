"""Classify wrist gestures from a 6-axis IMU (simulated) with a GRU."""
import argparse
import math

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

GESTURES = ["wave", "circle", "chop", "shake"]
STEPS = 40


def simulate(n, generator):
    """Each gesture is an oscillation with its own tempo and axis pattern, phase is random."""
    tempo = torch.tensor([0.15, 0.25, 0.40, 0.60])
    labels = torch.randint(0, len(GESTURES), (n,), generator=generator)
    t = torch.arange(STEPS).float()
    phase = torch.rand(n, 6, generator=generator) * 2 * math.pi
    speed = tempo[labels] * (1 + 0.08 * torch.randn(n, generator=generator))
    amp = 0.8 + 0.4 * torch.rand(n, 6, generator=generator)
    # (n, steps, 6)
    signal = amp[:, None, :] * torch.sin(speed[:, None, None] * t[None, :, None] + phase[:, None, :])
    signal = signal + 0.2 * torch.randn(n, STEPS, 6, generator=generator)
    return signal, labels


class GestureNet(nn.Module):
    def __init__(self, n_axes=6, hidden=48, n_classes=4):
        super().__init__()
        self.gru = nn.GRU(n_axes, hidden)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(hidden, n_classes)

    def forward(self, x):
        out, _ = self.gru(x)
        last = out[:, -1]
        return self.head(self.drop(last))


def run_epoch(model, loader, loss_fn, optimizer=None):
    training = optimizer is not None
    model.train(training)
    loss_sum, correct, seen = 0.0, 0, 0
    with torch.set_grad_enabled(training):
        for signal, label in loader:
            logits = model(signal)
            loss = loss_fn(logits, label)
            if training:
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
            loss_sum += loss.item() * len(label)
            correct += (logits.argmax(1) == label).sum().item()
            seen += len(label)
    return loss_sum / seen, correct / seen


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=2400)
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=11)
    args = parser.parse_args()

    gen = torch.Generator().manual_seed(args.seed)
    torch.manual_seed(args.seed)
    data = TensorDataset(*simulate(args.samples, gen))
    n_val = args.samples // 5
    train_set, val_set = random_split(data, [args.samples - n_val, n_val], generator=gen)
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=args.batch_size)

    model = GestureNet(n_classes=len(GESTURES))
    loss_fn = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for epoch in range(1, args.epochs + 1):
        tr_loss, tr_acc = run_epoch(model, train_loader, loss_fn, optimizer)
        va_loss, va_acc = run_epoch(model, val_loader, loss_fn)
        print(f"[{epoch:02d}] train {tr_loss:.3f} / {tr_acc:.3f}   val {va_loss:.3f} / {va_acc:.3f}")


if __name__ == "__main__":
    main()
