"""Screen single-lead heart traces for arrhythmia (clinic export, one trace per row)."""
import argparse

import numpy as np
import pandas as pd
import torch
from torch import nn


def clinic_export(n, seed, samples=180):
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        irregular = rng.random() < 0.45
        trace = rng.normal(0, 0.25, samples)
        pos = rng.uniform(0, 15)
        while pos < samples:
            beat = np.exp(-0.5 * ((np.arange(samples) - pos) / 1.5) ** 2)
            trace += rng.normal(1.5, 0.15) * beat
            pos += 22 + (rng.normal(0, 7) if irregular else rng.normal(0, 1.5))
        rows.append([2 if irregular else 1] + trace.tolist())
    return pd.DataFrame(rows, columns=["class"] + ["s%d" % i for i in range(samples)])


def read_frame(frame):
    labels = torch.tensor(frame["class"].to_numpy(), dtype=torch.float32)
    signal = torch.tensor(frame.drop(columns="class").to_numpy(), dtype=torch.float32)
    signal = (signal - signal.mean(1, keepdim=True)) / signal.std(1, keepdim=True)
    return signal[:, None], labels


def stream(x, y, batch, generator):
    order = torch.randperm(len(x), generator=generator)
    for idx in order.split(batch):
        yield x[idx], y[idx]


class TraceNet(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(1, width, 7, padding=3), nn.BatchNorm1d(width), nn.ReLU(), nn.MaxPool1d(3),
            nn.Conv1d(width, 2 * width, 15, padding=7), nn.BatchNorm1d(2 * width), nn.ReLU())
        self.out = nn.Linear(4 * width, 1)

    def forward(self, x):
        h = self.conv(x)
        return self.out(torch.cat([h.mean(-1), h.amax(-1)], dim=1)).squeeze(1)


def evaluate(net, x, y, criterion):
    net.eval()
    with torch.no_grad():
        logits = net(x)
    flagged = torch.sigmoid(logits) > 0.5
    truth = y == y.max()
    sens = (flagged & truth).sum().item() / truth.sum().item()
    spec = (~flagged & ~truth).sum().item() / (~truth).sum().item()
    return criterion(logits, y).item(), (flagged == truth).float().mean().item(), sens, spec


def run(opt):
    torch.manual_seed(opt.seed)
    gen = torch.Generator().manual_seed(opt.seed)
    x_tr, y_tr = read_frame(clinic_export(1200, opt.seed))
    x_va, y_va = read_frame(clinic_export(300, opt.seed + 1))
    x_te, y_te = read_frame(clinic_export(400, opt.seed + 2))
    net = TraceNet(opt.width)
    criterion = nn.BCEWithLogitsLoss()
    optim = torch.optim.AdamW(net.parameters(), lr=opt.lr, weight_decay=1e-3)
    best, best_state, waited = float("inf"), None, 0
    for epoch in range(opt.epochs):
        net.train()
        for xb, yb in stream(x_tr, y_tr, opt.batch, gen):
            optim.zero_grad()
            loss = criterion(net(xb), yb)
            loss.backward()
            optim.step()
        val_loss, val_acc, _, _ = evaluate(net, x_va, y_va, criterion)
        print("epoch %2d loss %.4f val loss %.4f val acc %.4f" % (epoch, loss.item(), val_loss, val_acc))
        if val_loss < best:
            best, waited = val_loss, 0
            best_state = {k: v.clone() for k, v in net.state_dict().items()}
        else:
            waited += 1
            if waited >= opt.patience:
                break
    net.load_state_dict(best_state)
    print("test loss %.4f accuracy %.4f sensitivity %.4f specificity %.4f"
          % evaluate(net, x_te, y_te, criterion))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--patience", type=int, default=5)
    parser.add_argument("--seed", type=int, default=40)
    run(parser.parse_args())
