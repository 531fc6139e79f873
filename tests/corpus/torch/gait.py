"""Activity recognition from a wrist accelerometer."""
from types import SimpleNamespace

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

cfg = SimpleNamespace(classes=5, channels=3, steps=50, hidden=48, layers=2, batch=64, epochs=6, lr=2e-3, seed=3)
LABELS = ["walk", "run", "stairs", "cycle", "rest"]


class Wrist(Dataset):
    SPEED = torch.tensor([1.8, 2.9, 1.4, 1.1, 0.1])
    POWER = torch.tensor([1.0, 2.2, 0.9, 0.6, 0.05])

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, cfg.classes, (n,), generator=g)
        t = torch.arange(cfg.steps) / 25.0
        f = self.SPEED[self.y] * (1 + 0.1 * torch.randn(n, generator=g))
        a = self.POWER[self.y] * (1 + 0.2 * torch.randn(n, generator=g))
        phase = 6.283 * torch.rand(n, cfg.channels, generator=g)
        wave = torch.sin(6.283 * f[:, None, None] * t[None, :, None] + phase[:, None, :])
        self.x = a[:, None, None] * wave + 0.3 * torch.randn(n, cfg.steps, cfg.channels, generator=g)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class Recogniser(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(cfg.channels, cfg.hidden)
        self.lstm = nn.LSTM(cfg.hidden, cfg.hidden, cfg.layers, batch_first=True, dropout=0.1)
        self.norm = nn.LayerNorm(cfg.hidden)
        self.head = nn.Linear(cfg.hidden, cfg.classes)

    def start_state(self, x):
        shape = (cfg.layers, cfg.batch, cfg.hidden)
        return x.new_zeros(shape), x.new_zeros(shape)

    def forward(self, x):
        state = self.start_state(x)
        seq, _ = self.lstm(self.proj(x), state)
        return self.head(self.norm(seq.mean(dim=1)))


def evaluate(model, loader):
    model.eval()
    hits = torch.zeros(cfg.classes)
    count = torch.zeros(cfg.classes)
    with torch.inference_mode():
        for x, y in loader:
            ok = model(x).argmax(-1) == y
            hits += torch.bincount(y[ok], minlength=cfg.classes)
            count += torch.bincount(y, minlength=cfg.classes)
    return hits / count


def main():
    torch.manual_seed(cfg.seed)
    train_dl = DataLoader(Wrist(2000, 0), batch_size=cfg.batch, shuffle=True)
    test_dl = DataLoader(Wrist(600, 1), batch_size=cfg.batch)
    model = Recogniser()
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(cfg.epochs):
        model.train()
        for step, (x, y) in enumerate(train_dl):
            opt.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            if step % 10 == 0:
                print(f"epoch {epoch} step {step:3d} loss {loss.item():.4f}")
        per_class = evaluate(model, test_dl)
        print("  ".join(f"{n} {v:.2f}" for n, v in zip(LABELS, per_class.tolist())))


if __name__ == "__main__":
    main()
