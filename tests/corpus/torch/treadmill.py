"""Walk / jog / run / sprint from three accelerometer channels."""
import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    n_train: int = 2400
    n_test: int = 400
    steps: int = 50
    hidden: int = 48
    batch_size: int = 40
    lr: float = 3e-3
    epochs: int = 14
    seed: int = 5


CADENCE = torch.tensor([1.2, 2.0, 3.0, 4.2])


def record(n, steps):
    y = torch.randint(0, 4, (n,))
    t = torch.linspace(0, 2, steps)
    freq = CADENCE[y] + 0.08 * torch.randn(n)
    phase = torch.rand(n, 3) * 2 * math.pi
    x = torch.sin(2 * math.pi * freq[:, None, None] * t[None, :, None] + phase[:, None, :])
    return x + 0.2 * torch.randn_like(x), y


class GaitNet(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.lstm = nn.LSTM(input_size=3, hidden_size=hidden, num_layers=1)
        self.fc = nn.Linear(hidden, 4)

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.fc(out[:, -1, :])


def main(cfg):
    torch.manual_seed(cfg.seed)
    train = TensorDataset(*record(cfg.n_train, cfg.steps))
    test = TensorDataset(*record(cfg.n_test, cfg.steps))
    train_loader = DataLoader(train, batch_size=cfg.batch_size, shuffle=True)
    test_loader = DataLoader(test, batch_size=cfg.batch_size)

    model = GaitNet(cfg.hidden)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    criterion = nn.CrossEntropyLoss()

    for epoch in range(1, cfg.epochs + 1):
        model.train()
        total = 0.0
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            right = sum((model(x).argmax(-1) == y).sum().item() for x, y in test_loader)
        print(f"epoch {epoch}: loss {total / len(train_loader):.4f}, test accuracy {right / cfg.n_test:.3f}")


if __name__ == "__main__":
    main(Config())
