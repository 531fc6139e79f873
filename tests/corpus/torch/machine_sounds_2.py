"""Classify short recordings of machines (normal, bearing, belt, fan) with a 1-d CNN."""
import io
import wave
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class Config:
    rate: int = 4000
    seconds: float = 0.25
    n_clips: int = 1200
    n_train: int = 960
    batch_size: int = 32
    lr: float = 2e-3
    epochs: int = 8
    pcm: str = ">i2"
    seed: int = 21


CLASSES = ["normal", "bearing", "belt", "fan"]


def record(label, cfg, rng):
    t = np.arange(int(cfg.rate * cfg.seconds)) / cfg.rate
    base = rng.uniform(45, 55)
    sig = np.sin(2 * np.pi * base * t + rng.uniform(0, 6))
    if label == 1:
        sig += 0.8 * np.sin(2 * np.pi * rng.uniform(700, 900) * t) * (np.sin(2 * np.pi * 30 * t) > 0.6)
    elif label == 2:
        sig *= 1 + 0.8 * np.sin(2 * np.pi * rng.uniform(14, 20) * t)
        sig += 0.4 * np.sin(2 * np.pi * 2 * base * t)
    elif label == 3:
        sig += 0.6 * np.sin(2 * np.pi * rng.uniform(280, 360) * t)
    sig += rng.normal(0, 0.25, len(t))
    sig *= rng.uniform(0.15, 0.3)
    pcm = (np.clip(sig, -1, 1) * 32767).astype(np.int16)
    buf = io.BytesIO()
    with wave.open(buf, "wb") as w:
        w.setnchannels(1)
        w.setsampwidth(2)
        w.setframerate(cfg.rate)
        w.writeframes(pcm.tobytes())
    return buf.getvalue()


class Clips(Dataset):
    def __init__(self, files, labels, cfg):
        self.files, self.labels, self.cfg = files, labels, cfg

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        with wave.open(io.BytesIO(self.files[i]), "rb") as w:
            frames = w.readframes(w.getnframes())
        x = np.frombuffer(frames, dtype=self.cfg.pcm).astype(np.float32) / 32768.0
        x = (x - x.mean()) / (x.std() + 1e-6)
        return torch.from_numpy(x).unsqueeze(0), self.labels[i]


def build_net():
    def block(i, o, k, s):
        return [nn.Conv1d(i, o, k, stride=s, padding=k // 2), nn.BatchNorm1d(o), nn.ReLU()]
    return nn.Sequential(*block(1, 16, 31, 4), *block(16, 32, 9, 2), *block(32, 32, 9, 2),
                         nn.AdaptiveAvgPool1d(4), nn.Flatten(), nn.Linear(128, len(CLASSES)))


def accuracy(net, loader):
    net.eval()
    right = total = 0
    with torch.no_grad():
        for x, y in loader:
            right += (net(x).argmax(1) == y).sum().item()
            total += len(y)
    return right / total


def main(cfg=Config()):
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    labels = rng.integers(0, len(CLASSES), cfg.n_clips).tolist()
    files = [record(c, cfg, rng) for c in labels]
    train = Clips(files[:cfg.n_train], labels[:cfg.n_train], cfg)
    test = Clips(files[cfg.n_train:], labels[cfg.n_train:], cfg)
    train_dl = DataLoader(train, batch_size=cfg.batch_size, shuffle=True, drop_last=True)
    test_dl = DataLoader(test, batch_size=128)
    net = build_net()
    opt = torch.optim.AdamW(net.parameters(), lr=cfg.lr)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(cfg.epochs):
        net.train()
        losses = []
        for x, y in train_dl:
            opt.zero_grad()
            loss = loss_fn(net(x), y)
            loss.backward()
            opt.step()
            losses.append(loss.item())
        print(f"epoch {epoch} loss {np.mean(losses):.4f} test acc {accuracy(net, test_dl):.4f}")
    print(f"train accuracy {accuracy(net, DataLoader(train, batch_size=128)):.4f}")
    print(f"final test accuracy {accuracy(net, test_dl):.4f}")


if __name__ == "__main__":
    main()
