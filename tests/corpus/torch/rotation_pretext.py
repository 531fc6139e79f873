from dataclasses import dataclass

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    pretext_epochs: int = 12
    probe_epochs: int = 30
    batch_size: int = 64
    pretext_lr: float = 2e-3
    probe_lr: float = 1e-2
    seed: int = 11


class SmallConvNet(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
            nn.MaxPool2d(2), nn.Flatten(),
        )
        self.head = nn.Linear(32 * 4 * 4, n_out)

    def forward(self, x):
        return self.head(self.encoder(x))


def rotated_copies(images):
    views, turns = [], []
    for k in range(4):
        views.append(torch.rot90(images, k, dims=(2, 3)))
        turns.append(torch.full((len(images),), k, dtype=torch.long))
    return torch.cat(views), torch.cat(turns)


def run_epochs(net, loader, opt, epochs, tag):
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        net.train()
        running = 0.0
        for xb, yb in loader:
            opt.zero_grad()
            loss = criterion(net(xb), yb)
            loss.backward()
            opt.step()
            running += loss.item() * len(xb)
        if (epoch + 1) % 5 == 0 or epoch == 0:
            print(f"[{tag}] epoch {epoch + 1:2d}  loss {running / len(loader.dataset):.4f}")


@torch.no_grad()
def accuracy(net, x, y):
    net.eval()
    return (net(x).argmax(1) == y).float().mean().item()


def main(cfg):
    torch.manual_seed(cfg.seed)
    np.random.seed(cfg.seed)
    digits = load_digits()
    images = torch.tensor(digits.images / 16.0, dtype=torch.float32).unsqueeze(1)
    target = torch.tensor(digits.target, dtype=torch.long)
    idx_tr, idx_te = train_test_split(
        np.arange(len(target)), test_size=0.25, stratify=digits.target, random_state=cfg.seed)

    net = SmallConvNet(n_out=4)
    xr, yr = rotated_copies(images[idx_tr])
    pretext = DataLoader(TensorDataset(xr, yr), batch_size=cfg.batch_size, shuffle=True)
    run_epochs(net, pretext, torch.optim.Adam(net.parameters(), lr=cfg.pretext_lr),
               cfg.pretext_epochs, "rotation")
    xv, yv = rotated_copies(images[idx_te])
    print(f"rotation accuracy: {accuracy(net, xv, yv):.3f}")

    net.encoder.requires_grad_(False)
    optimizer = torch.optim.Adam(net.head.parameters(), lr=cfg.probe_lr)
    net.head = nn.Linear(32 * 4 * 4, 10)

    probe = DataLoader(TensorDataset(images[idx_tr], target[idx_tr]),
                       batch_size=cfg.batch_size, shuffle=True)
    run_epochs(net, probe, optimizer, cfg.probe_epochs, "probe")
    print(f"digit accuracy (train): {accuracy(net, images[idx_tr], target[idx_tr]):.3f}")
    print(f"digit accuracy (test):  {accuracy(net, images[idx_te], target[idx_te]):.3f}")


if __name__ == "__main__":
    main(Config())
