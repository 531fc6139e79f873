"""Wine cultivar classifier whose network ends in log-probabilities."""
from dataclasses import dataclass

import torch
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from torch import nn


@dataclass
class Plan:
    epochs: int = 60
    micro_batch: int = 8
    accumulate: int = 4
    lr: float = 0.05
    momentum: float = 0.9


class WineNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(13, 24), nn.Tanh(), nn.Linear(24, 3), nn.LogSoftmax(dim=1))

    def forward(self, x):
        return self.layers(x)


class Runner:
    def __init__(self, plan):
        self.plan = plan
        self.model = WineNet()
        self.criterion = nn.CrossEntropyLoss()
        self.opt = torch.optim.SGD(self.model.parameters(), lr=plan.lr, momentum=plan.momentum)

    def epoch(self, x, y):
        self.model.train()
        total, pending = 0.0, 0
        chunks = torch.randperm(len(x)).split(self.plan.micro_batch)
        for i, idx in enumerate(chunks, start=1):
            loss = self.criterion(self.model(x[idx]), y[idx])
            (loss / self.plan.accumulate).backward()
            total += loss.item() * len(idx)
            pending += 1
            if pending == self.plan.accumulate or i == len(chunks):
                self.opt.step()
                self.opt.zero_grad()
                pending = 0
        return total / len(x)

    @torch.inference_mode()
    def report(self, x, y):
        self.model.eval()
        out = self.model(x)
        return self.criterion(out, y).item(), (out.argmax(1) == y).float().mean().item(), out.exp().max(1).values.mean().item()


def main():
    torch.manual_seed(6)
    wine = load_wine()
    x_tr, x_te, y_tr, y_te = train_test_split(wine.data, wine.target, test_size=0.3, random_state=0, stratify=wine.target)
    mu, sd = x_tr.mean(0), x_tr.std(0)
    x_tr, x_te = (torch.tensor((a - mu) / sd, dtype=torch.float32) for a in (x_tr, x_te))
    y_tr, y_te = torch.tensor(y_tr), torch.tensor(y_te)
    runner = Runner(Plan())
    for e in range(runner.plan.epochs):
        loss = runner.epoch(x_tr, y_tr)
        if e % 15 == 0:
            print(f"epoch {e:2d}  loss {loss:.3f}")
    print("test loss %.3f  accuracy %.3f  mean confidence %.3f" % runner.report(x_te, y_te))


if __name__ == "__main__":
    main()
