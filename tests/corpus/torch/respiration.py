"""Marks the inhalation phases in a chest-belt signal, sample by sample."""
import argparse
import logging
import math
import random
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("respiration")


@dataclass
class Config:
    length: int = 256
    train_rows: int = 640
    val_rows: int = 160
    widths: tuple = (12, 24, 48)
    batch_size: int = 32
    epochs: int = 6
    lr: float = 3e-3
    weight_decay: float = 1e-4
    seed: int = 5


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def synth_trace(rng, length):
    """Belt and flow channel, and the mask of the rising phases."""
    phase = rng.uniform(0, 2 * math.pi)
    belt, mask = np.zeros(length), np.zeros(length)
    rate = rng.uniform(0.08, 0.16)
    for i in range(length):
        rate = np.clip(rate + rng.normal(0, 0.002), 0.06, 0.2)
        phase += rate
        belt[i] = -math.cos(phase)
        mask[i] = float(math.sin(phase) > 0)
    drift = np.cumsum(rng.normal(0, 0.03, length))
    belt = belt * rng.uniform(0.6, 1.4) + drift + rng.normal(0, 0.25, length)
    flow = np.gradient(np.convolve(belt, np.ones(9) / 9, mode="same")) * 6
    return np.stack([belt - belt.mean(), flow]).astype(np.float32), mask.astype(np.float32)


def make_split(rows, length, seed):
    rng = np.random.default_rng(seed)
    xs, ys = zip(*(synth_trace(rng, length) for _ in range(rows)))
    return TensorDataset(torch.tensor(np.stack(xs)), torch.tensor(np.stack(ys)))


class DoubleConv(nn.Sequential):
    def __init__(self, cin, cout):
        super().__init__(
            nn.Conv1d(cin, cout, 7, padding=3), nn.BatchNorm1d(cout), nn.ReLU(inplace=True),
            nn.Conv1d(cout, cout, 7, padding=3), nn.BatchNorm1d(cout), nn.ReLU(inplace=True))


class UNet1d(nn.Module):
    def __init__(self, cin, widths):
        super().__init__()
        w1, w2, w3 = widths
        self.enc1 = DoubleConv(cin, w1)
        self.enc2 = DoubleConv(w1, w2)
        self.bottom = DoubleConv(w2, w3)
        self.dec2 = DoubleConv(w3 + w2, w2)
        self.dec1 = DoubleConv(w2, w1)
        self.out = nn.Conv1d(w1, 1, 1)

    def forward(self, x):
        s1 = self.enc1(x)
        s2 = self.enc2(F.max_pool1d(s1, 2))
        h = self.bottom(F.max_pool1d(s2, 2))
        h = self.dec2(torch.cat([F.interpolate(h, scale_factor=2), s2], dim=1))
        h = self.dec1(torch.cat([F.interpolate(h, scale_factor=2), s1], dim=1))
        return self.out(h).squeeze(1)


def dice(logits, mask):
    pred = (logits > 0).float()
    return (2 * (pred * mask).sum() / (pred.sum() + mask.sum()).clamp(min=1)).item()


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    outs, masks = [], []
    for x, y in loader:
        outs.append(model(x.to(device)).cpu())
        masks.append(y)
    outs, masks = torch.cat(outs), torch.cat(masks)
    return F.binary_cross_entropy_with_logits(outs, masks).item(), dice(outs, masks)


def train_epoch(model, loader, optimizer, scheduler, device):
    model.train()
    total = 0.0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        loss = F.binary_cross_entropy_with_logits(model(x), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        scheduler.step()
        total += loss.item() * len(x)
    return total / len(loader.dataset)


def main():
    cfg = Config()
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=cfg.epochs)
    parser.add_argument("--lr", type=float, default=cfg.lr)
    args = parser.parse_args()
    seed_everything(cfg.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    train_set = make_split(cfg.train_rows, cfg.length, 1)
    val_set = make_split(cfg.val_rows, cfg.length, 2)
    train_loader = DataLoader(train_set, batch_size=cfg.batch_size, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=64)

    model = UNet1d(2, cfg.widths).to(device)
    log.info("parameters: %d", sum(p.numel() for p in model.parameters()))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=cfg.weight_decay)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=args.lr, total_steps=args.epochs * len(train_loader))
    for epoch in range(args.epochs):
        train_loss = train_epoch(model, train_loader, optimizer, scheduler, device)
        val_loss, score = evaluate(model, val_loader, device)
        log.info("epoch %d train %.4f val %.4f dice %.3f", epoch, train_loss, val_loss, score)


if __name__ == "__main__":
    main()
