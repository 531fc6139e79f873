"""Hardness of alloys from composition and heat treatment. Builds the network from a list of sizes."""
import argparse
import json
import numpy as np
import torch
from torch import nn


def build_mlp(sizes, act=nn.SiLU, drop=0.0, act_out=None):
    layers = []
    for i, (a, b) in enumerate(zip(sizes[:-1], sizes[1:])):
        layers.append(nn.Linear(a, b))
        if i < len(sizes) - 2:
            layers.append(act())
            layers.append(nn.Dropout(drop))
    if act_out is not None:
        layers.append(act_out())
    return nn.Sequential(*layers)


def lab_data(n, seed):
    g = np.random.default_rng(seed)
    cu, mg, si, zn = g.uniform(0, 1, (4, n))
    temp, hours = g.uniform(0, 1, n), g.uniform(0, 1, n)
    ageing = np.exp(-((temp - 0.5) / 0.2) ** 2) * 1.5
    h = 60 + 70 * (cu - 0.5) * (mg - 0.5) * 4 * 0.5 + 40 * ageing * (0.3 + hours) * (1 - hours) + 25 * np.sin(5 * zn) - 30 * np.abs(si - 0.5)
    x = np.stack([cu, mg, si, zn, temp, hours], 1)
    return x.astype(np.float32), (h + g.normal(0, 2, n)).astype(np.float32)


class Regressor:
    def __init__(self, cfg):
        self.cfg = cfg
        self.net = build_mlp([6] + cfg.hidden + [1], drop=cfg.dropout)
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=cfg.lr, weight_decay=1e-4)

    def fit(self, x, y):
        self.xm, self.xs, self.ym, self.ys = x.mean(0), x.std(0), y.mean(), y.std()
        X = torch.from_numpy((x - self.xm) / self.xs)
        Y = torch.from_numpy((y - self.ym) / self.ys)[:, None]
        for ep in range(self.cfg.epochs):
            self.net.train()
            s = 0.0
            for i in torch.randperm(len(X)).split(self.cfg.batch):
                loss = nn.functional.smooth_l1_loss(self.net(X[i]), Y[i])
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                s += loss.item() * len(i)
            if ep % 5 == 4:
                print(json.dumps({"epoch": ep + 1, "loss": round(s / len(X), 4)}))
        return self

    def predict(self, x):
        self.net.eval()
        with torch.no_grad():
            p = self.net(torch.from_numpy((x - self.xm) / self.xs))[:, 0].numpy()
        return p * self.ys + self.ym


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--hidden", type=int, nargs="+", default=[96, 96, 48])
    ap.add_argument("--dropout", type=float, default=0.02)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--epochs", type=int, default=40)
    cfg = ap.parse_args()
    torch.manual_seed(6)
    x, y = lab_data(4000, 0)
    xt, yt = lab_data(1000, 1)
    reg = Regressor(cfg).fit(x, y)
    p = reg.predict(xt)
    print(json.dumps({"test_mae": round(float(np.abs(p - yt).mean()), 3),
                      "test_r2": round(float(1 - ((p - yt) ** 2).sum() / ((yt - yt.mean()) ** 2).sum()), 3)}))
