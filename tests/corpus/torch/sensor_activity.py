"""Activity recognition from windows of a three-axis accelerometer."""
import logging

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

logging.basicConfig(format="%(asctime)s %(message)s", datefmt="%H:%M:%S", level=logging.INFO)
log = logging.getLogger("har")

ACTIVITIES = ["sit", "walk", "run", "stairs", "cycle", "lift"]
WIN = 100


def simulate(n, seed):
    g = np.random.default_rng(seed)
    base_freq = np.array([0.0, 1.8, 2.9, 1.5, 1.2, 0.4])
    amp = np.array([[0, 0, 0], [.5, .3, .9], [1.0, .6, 1.6], [.4, .5, 1.1], [.7, .7, .3], [.2, .1, 1.0]])
    y = g.integers(0, len(ACTIVITIES), n)
    t = np.arange(WIN) / 50.0
    x = np.empty((n, 3, WIN), dtype=np.float32)
    for i, k in enumerate(y):
        f = base_freq[k] * g.normal(1, 0.12)
        ph = g.uniform(0, 2 * np.pi)
        scale = g.normal(1, 0.2)
        for ax in range(3):
            s = np.sin(2 * np.pi * f * t + ph + ax * 0.8)
            if k == 3:
                s = s + 0.5 * np.sin(4 * np.pi * f * t + ph)
            x[i, ax] = scale * amp[k, ax] * s + g.normal(0, 0.45, WIN)
        x[i, 2] += g.normal(1.0, 0.3)
    return torch.from_numpy(x), torch.from_numpy(y)


class HarNet(nn.Module):
    def __init__(self, n_classes, width=24):
        super().__init__()
        self.conv1 = nn.Conv1d(3, width, 7, padding=3)
        self.conv2 = nn.Conv1d(width, width, 5, padding=2)
        self.norm1 = nn.BatchNorm1d(width)
        self.norm2 = nn.BatchNorm1d(width)
        self.out = nn.Linear(48, n_classes)

    def forward(self, x):
        x = F.max_pool1d(F.relu(self.norm1(self.conv1(x))), 2)
        x = F.max_pool1d(F.relu(self.norm2(self.conv2(x))), 4)
        x = x.flatten(1)
        x = F.relu(nn.Linear(x.shape[1], 48)(x))
        return self.out(x)


def evaluate(net, x, y):
    net.eval()
    with torch.no_grad():
        pred = net(x).argmax(1)
    per_class = [(pred[y == c] == c).float().mean().item() for c in range(len(ACTIVITIES))]
    return (pred == y).float().mean().item(), per_class


def train(net, x, y, x_val, y_val, epochs=8, batch=50, lr=2e-3):
    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=3, gamma=0.5)
    for epoch in range(epochs):
        net.train()
        losses = []
        for idx in torch.randperm(len(x)).split(batch):
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x[idx]), y[idx])
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            optimizer.step()
            losses.append(loss.item())
        scheduler.step()
        acc, _ = evaluate(net, x_val, y_val)
        log.info("epoch %d loss %.4f val acc %.3f lr %.1e", epoch, np.mean(losses), acc, scheduler.get_last_lr()[0])


def main():
    torch.manual_seed(8)
    x_train, y_train = simulate(2000, seed=1)
    x_test, y_test = simulate(800, seed=2)
    net = HarNet(len(ACTIVITIES))
    train(net, x_train, y_train, x_test, y_test)
    acc, per_class = evaluate(net, x_test, y_test)
    for name, a in zip(ACTIVITIES, per_class):
        log.info("  %-7s %.3f", name, a)
    majority = torch.bincount(y_test).max().item() / len(y_test)
    log.info("test accuracy %.3f (majority %.3f)", acc, majority)


if __name__ == "__main__":
    main()
