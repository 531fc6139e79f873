"""Spoken-command style audio classification on raw waveforms (synthetic voices)."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

SR, LENGTH = 4000, 1600
COMMANDS = ["up", "down", "stay", "double", "buzz", "click"]


def utter(command, rng):
    t = np.arange(LENGTH) / SR
    f0 = rng.uniform(260, 520)
    loud = rng.uniform(0.5, 1.5)
    if command == "up":
        freq = f0 * (1 + 0.9 * t / t[-1])
    elif command == "down":
        freq = f0 * (1.9 - 0.9 * t / t[-1])
    else:
        freq = np.full(LENGTH, f0 * 1.45)
    phase = 2 * np.pi * np.cumsum(freq) / SR
    wave = np.sin(phase)
    if command == "double":
        wave = wave * (np.sin(2 * np.pi * 2.5 * t) > 0)
    elif command == "buzz":
        wave = np.sign(wave) * 0.8
    elif command == "click":
        wave = wave * (np.sin(2 * np.pi * 12 * t) > 0.7) * 2
    return (loud * wave + rng.normal(0, 0.15, LENGTH)).astype(np.float32)


class CommandFolder(Dataset):
    """Clips are listed folder by folder, as they would be on disk."""

    def __init__(self, clips_per_command, seed):
        rng = np.random.default_rng(seed)
        self.items = []
        for label, command in enumerate(COMMANDS):
            for _ in range(clips_per_command):
                self.items.append((torch.from_numpy(utter(command, rng))[None], label))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class M3(nn.Module):
    def __init__(self, n_out, ch=24):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(1, ch, 40, stride=8), nn.BatchNorm1d(ch), nn.ReLU(),
            nn.Conv1d(ch, ch, 5), nn.BatchNorm1d(ch), nn.ReLU(), nn.MaxPool1d(4),
            nn.Conv1d(ch, 2 * ch, 5), nn.BatchNorm1d(2 * ch), nn.ReLU(),
        )
        self.head = nn.Sequential(nn.Dropout(0.4), nn.Linear(4 * ch, 48), nn.BatchNorm1d(48),
                                  nn.ReLU(), nn.Dropout(0.4), nn.Linear(48, n_out))

    def forward(self, x):
        h = self.net(x)
        h = torch.cat([h.mean(-1), h.amax(-1)], dim=1)
        return self.head(h)


class Runner:
    def __init__(self, model, lr=3e-3, epochs=14):
        self.model = model
        self.epochs = epochs
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.loss_fn = nn.CrossEntropyLoss()

    def fit(self, loader):
        for epoch in range(self.epochs):
            self.model.train()
            seen = right = 0
            for wave, label in loader:
                self.optimizer.zero_grad()
                logits = self.model(wave)
                loss = self.loss_fn(logits, label)
                loss.backward()
                self.optimizer.step()
                right += (logits.argmax(1) == label).sum().item()
                seen += len(label)
            print(f"epoch {epoch + 1} train acc {right / seen:.3f}")

    def test(self, loader):
        self.model.eval()
        hits = np.zeros(len(COMMANDS))
        count = np.zeros(len(COMMANDS))
        with torch.no_grad():
            for wave, label in loader:
                pred = self.model(wave).argmax(1)
                for p, l in zip(pred.tolist(), label.tolist()):
                    hits[l] += p == l
                    count[l] += 1
        return hits / count, hits.sum() / count.sum()


if __name__ == "__main__":
    torch.manual_seed(1)
    train_loader = DataLoader(CommandFolder(120, seed=1), batch_size=32, shuffle=True, drop_last=True)
    test_loader = DataLoader(CommandFolder(40, seed=2), batch_size=8)
    runner = Runner(M3(len(COMMANDS)))
    runner.fit(train_loader)
    per_class, accuracy = runner.test(test_loader)
    for name, value in zip(COMMANDS, per_class):
        print(f"  {name:8s} {value:.2f}")
    print(f"chance {1 / len(COMMANDS):.3f}")
    print(f"test accuracy {accuracy:.3f}")
