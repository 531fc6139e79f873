import argparse

import numpy as np
import torch
from sklearn.metrics import f1_score
from torch import nn
from torch.utils.data import DataLoader, Dataset

INSTRUMENTS = ["flute", "drone", "bell", "click", "hum", "whistle"]
PITCH = [9, 4, 21, 28, 14, 25]


class ClipDataset(Dataset):
    def __init__(self, n, seed, rate=64, seconds=2):
        rng = np.random.default_rng(seed)
        t = np.arange(rate * seconds) / rate
        self.labels = (rng.random((n, len(INSTRUMENTS))) < 0.2).astype(np.float32)
        clips = 0.6 * rng.standard_normal((n, len(t)))
        for i in range(n):
            for k in np.flatnonzero(self.labels[i]):
                f = PITCH[k] + rng.normal(0, 0.3)
                amp = rng.uniform(0.6, 1.2)
                clips[i] += amp * np.sin(2 * np.pi * f * t + rng.uniform(0, 2 * np.pi))
        frames = clips.reshape(n, -1, 32) * np.hanning(32)
        spec = np.abs(np.fft.rfft(frames, n=64, axis=-1))
        self.spec = np.log1p(spec).transpose(0, 2, 1).astype(np.float32)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return torch.from_numpy(self.spec[i]), torch.from_numpy(self.labels[i])


class Tagger(nn.Module):
    def __init__(self, n_bins=33, width=64, n_tags=len(INSTRUMENTS)):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(n_bins, width, 3, padding=1), nn.BatchNorm1d(width), nn.ReLU(),
            nn.Conv1d(width, width, 3, padding=1), nn.BatchNorm1d(width), nn.ReLU(),
        )
        self.fc = nn.Linear(width, n_tags)

    def forward(self, x):
        h = self.conv(x).mean(dim=-1)
        return torch.sigmoid(self.fc(h))


def predict(model, loader, threshold):
    model.eval()
    scores, truth = [], []
    with torch.no_grad():
        for x, y in loader:
            scores.append(torch.sigmoid(model(x)))
            truth.append(y)
    return (torch.cat(scores) > threshold).int().numpy(), torch.cat(truth).int().numpy()


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=15)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--threshold", type=float, default=0.5)
    p.add_argument("--seed", type=int, default=1)
    return p.parse_args()


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    train_dl = DataLoader(ClipDataset(2400, 10), batch_size=args.batch_size, shuffle=True)
    valid_dl = DataLoader(ClipDataset(600, 20), batch_size=256)
    model = Tagger()
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(1, args.epochs + 1):
        model.train()
        total = 0.0
        for x, y in train_dl:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        pred, truth = predict(model, valid_dl, args.threshold)
        print(f"epoch {epoch:2d}  loss {total / len(train_dl):.4f}  "
              f"micro-F1 {f1_score(truth, pred, average='micro', zero_division=0):.3f}")
    pred, truth = predict(model, valid_dl, args.threshold)
    print(f"micro-F1 {f1_score(truth, pred, average='micro', zero_division=0):.3f}  "
          f"all-ones F1 {f1_score(truth, np.ones_like(truth), average='micro'):.3f}  "
          f"tag accuracy {(pred == truth).mean():.3f}")


if __name__ == "__main__":
    main()
