import math

import torch
import torch.nn as nn
from sklearn.metrics import accuracy_score, classification_report
from torch.utils.data import DataLoader, TensorDataset

KINDS = ["ding", "dingdong", "buzzer", "knock", "chirp"]
RATE, SECONDS = 2000, 0.4


def tone(freq, t):
    return torch.sin(2 * math.pi * freq * t)


def ring(kind, g):
    n = int(RATE * SECONDS)
    t = torch.arange(n) / RATE
    f = 300 + 200 * torch.rand(1, generator=g)
    if kind == 0:
        w = tone(f, t) * torch.exp(-6 * t)
    elif kind == 1:
        w = torch.where(t < SECONDS / 2, tone(f, t), tone(f * 0.75, t)) * torch.exp(-6 * (t % (SECONDS / 2)))
    elif kind == 2:
        w = torch.sign(tone(f / 5, t))
    elif kind == 3:
        w = torch.randn(n, generator=g) * torch.exp(-40 * (t % 0.13))
    else:
        w = torch.sin(2 * math.pi * (f * t + 600 * t ** 2))
    shift = int(torch.randint(0, 80, (1,), generator=g))
    w = torch.roll(w, shift) * (0.5 + torch.rand(1, generator=g))
    return w + 0.2 * torch.randn(n, generator=g)


def recordings(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, len(KINDS), (n,), generator=g)
    x = torch.stack([ring(int(k), g) for k in y])
    return TensorDataset(x.unsqueeze(1), y)


def build_model():
    return nn.Sequential(
        nn.Conv1d(1, 16, 25, stride=4), nn.BatchNorm1d(16), nn.ReLU(),
        nn.Conv1d(16, 32, 9, stride=2), nn.BatchNorm1d(32), nn.ReLU(),
        nn.Conv1d(32, 32, 9, stride=2), nn.ReLU(),
        nn.AdaptiveAvgPool1d(4), nn.Flatten(), nn.Linear(128, len(KINDS)),
    )


def predict(model, loader):
    model.eval()
    out = []
    with torch.no_grad():
        for x, _ in loader:
            out.append(model(x).argmax(1))
    return torch.cat(out)


def main():
    torch.manual_seed(2)
    loaders = {
        split: DataLoader(recordings(n, seed), batch_size=32, shuffle=True)
        for split, n, seed in [("train", 800, 10), ("valid", 250, 20)]
    }
    model = build_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(8):
        model.train()
        total = 0.0
        for x, y in loaders["train"]:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        predictions = predict(model, loaders["valid"])
        targets = torch.cat([y for _, y in loaders["valid"]])
        print(f"epoch {epoch + 1} loss {total / len(loaders['train']):.3f} valid accuracy {accuracy_score(targets, predictions):.3f}")
    print(classification_report(targets, predictions, target_names=KINDS, zero_division=0))


if __name__ == "__main__":
    main()
