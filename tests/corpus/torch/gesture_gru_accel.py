"""Recognise hand gestures from accelerometer traces (GRU, Accelerate)."""
import math

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

N_CLASSES, STEPS = 6, 30


def simulate(n, seed):
    g = torch.Generator().manual_seed(seed)
    label = torch.randint(N_CLASSES, (n,), generator=g)
    t = torch.linspace(0, 1, STEPS)
    freq = 1.0 + (label % 3).float()[:, None]
    phase = 2 * math.pi * torch.rand(n, 1, generator=g)
    turn = torch.where(label < 3, 1.0, -1.0)[:, None]
    x = torch.sin(2 * math.pi * freq * t + phase)
    y = torch.cos(2 * math.pi * freq * t + phase) * turn
    z = torch.zeros_like(x)
    trace = torch.stack([x, y, z], dim=-1)
    return trace + 0.3 * torch.randn(trace.shape, generator=g), label


class GestureNet(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.gru = nn.GRU(3, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, N_CLASSES)

    def forward(self, x):
        out, _ = self.gru(x)
        return self.fc(out.mean(dim=1))


def make_loader(x, y, batch_size):
    return DataLoader(TensorDataset(x, y), batch_size=batch_size, shuffle=True)


def main():
    set_seed(13)
    accelerator = Accelerator(cpu=True)
    x_train, y_train = simulate(1800, seed=1)
    x_test, y_test = simulate(600, seed=2)
    train_loader = make_loader(x_train, y_train, 64)
    test_loader = make_loader(x_test, y_test, 128)

    model = GestureNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    model, optimizer, train_loader, test_loader = accelerator.prepare(
        model, optimizer, train_loader, test_loader
    )
    criterion = nn.CrossEntropyLoss()

    for epoch in range(10):
        model.train()
        running = 0.0
        for x, y in train_loader:
            loss = criterion(model(x), y)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            running += loss.item()

        model.eval()
        preds = []
        for x, _ in test_loader:
            with torch.no_grad():
                logits = model(x)
            preds.append(accelerator.gather_for_metrics(logits.argmax(-1)))
        preds = torch.cat(preds).cpu()
        acc = (preds == y_test).float().mean().item()
        accelerator.print(f"epoch {epoch}: train loss {running / len(train_loader):.4f}, test accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
