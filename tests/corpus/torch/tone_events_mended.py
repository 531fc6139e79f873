import math

import torch
from torch import nn

RATE = 800
LENGTH = 400
KINDS = ["low", "mid", "high", "rising", "falling", "tremolo", "burst", "two_tone"]


def synth(kind, gen):
    t = torch.arange(LENGTH) / RATE
    phase = torch.rand(1, generator=gen) * 2 * math.pi
    jitter = 1 + 0.1 * (torch.rand(1, generator=gen) - 0.5)

    def tone(f):
        return torch.sin(2 * math.pi * f * jitter * t + phase)

    if kind == "low":
        wave = tone(25)
    elif kind == "mid":
        wave = tone(70)
    elif kind == "high":
        wave = tone(180)
    elif kind == "rising":
        wave = torch.sin(2 * math.pi * jitter * (20 * t + 160 * t ** 2) + phase)
    elif kind == "falling":
        wave = torch.sin(2 * math.pi * jitter * (180 * t - 160 * t ** 2) + phase)
    elif kind == "tremolo":
        wave = tone(70) * (0.5 + 0.5 * torch.sin(2 * math.pi * 9 * t))
    elif kind == "burst":
        start = int(torch.randint(0, LENGTH - 100, (1,), generator=gen))
        wave = torch.zeros(LENGTH)
        wave[start:start + 100] = tone(70)[start:start + 100]
    else:
        wave = 0.6 * tone(25) + 0.6 * tone(180)
    return wave + 0.3 * torch.randn(LENGTH, generator=gen)


def stream(n_batches, batch_size, seed):
    gen = torch.Generator().manual_seed(seed)
    for _ in range(n_batches):
        y = torch.randint(0, len(KINDS), (batch_size,), generator=gen)
        x = torch.stack([synth(KINDS[k], gen) for k in y.tolist()])
        yield x.unsqueeze(1), y


class ToneNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, 16, 15, stride=2, padding=7), nn.BatchNorm1d(16), nn.ReLU(),
            nn.Conv1d(16, 32, 9, stride=2, padding=4), nn.BatchNorm1d(32), nn.ReLU(),
            nn.MaxPool1d(2),
            nn.Conv1d(32, 32, 9, stride=2, padding=4), nn.BatchNorm1d(32), nn.ReLU(),
            nn.AdaptiveAvgPool1d(4), nn.Flatten(),
        )
        self.out = nn.Linear(128, n_classes)

    def forward(self, x):
        scores = self.out(self.features(x))
        return scores.log_softmax(dim=1)


def evaluate(model, seed=999):
    model.eval()
    hit = total = 0
    with torch.no_grad():
        for x, y in stream(8, 64, seed):
            hit += (model(x).argmax(dim=1) == y).sum().item()
            total += len(y)
    model.train()
    return hit / total


if __name__ == "__main__":
    torch.manual_seed(0)
    model = ToneNet(len(KINDS))
    criterion = nn.NLLLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for phase in range(5):
        total = 0.0
        for x, y in stream(40, 32, seed=phase):
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"phase {phase}: train loss {total / 40:.3f}  held-out accuracy {evaluate(model):.3f}")
    print(f"final accuracy {evaluate(model, seed=4242):.3f}")
