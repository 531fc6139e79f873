"""Fit a noisy height map with an MLP on a pre-emptible machine.

The job saves a checkpoint when its time slice ends and the next slice goes on from it.
Both slices are driven from main() here so that the whole run can be tried at home.
"""
import argparse
import os

import numpy as np
import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset

CKPT = "out/surface_fit/last.pt"


def height(xy):
    x, y = xy[:, 0], xy[:, 1]
    return np.sin(3 * x) * np.cos(2 * y) + 0.5 * np.exp(-4 * (x**2 + y**2)) + 0.3 * x * y


def get_data(seed=0):
    rng = np.random.default_rng(seed)
    xy = rng.uniform(-1.5, 1.5, (2500, 2)).astype("float32")
    z = height(xy)
    noisy = z[:1500] + rng.normal(0, 0.5, 1500)
    train = TensorDataset(torch.tensor(xy[:1500]), torch.tensor(noisy, dtype=torch.float32))
    return train, torch.tensor(xy[1500:]), torch.tensor(z[1500:], dtype=torch.float32)


def build_model():
    return nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))


class Job:
    def __init__(self, args):
        self.args = args
        self.train_set, self.x_val, self.y_val = get_data()
        self.loader = DataLoader(self.train_set, batch_size=16, shuffle=True)
        self.model = build_model()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=args.lr, momentum=0.9)
        decay = (args.lr_end / args.lr) ** (1 / max(1, args.epochs - 1))
        self.scheduler = LambdaLR(self.optimizer, lambda epoch: decay**epoch)
        self.epoch = 0

    def save(self):
        os.makedirs(os.path.dirname(CKPT), exist_ok=True)
        torch.save(
            {
                "model": self.model.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "scheduler": self.scheduler.state_dict(),
                "epoch": self.epoch,
            },
            CKPT,
        )

    def resume(self):
        state = torch.load(CKPT)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.scheduler.load_state_dict(state["scheduler"])
        self.epoch = state["epoch"]
        print(f"resumed after epoch {self.epoch}")

    @torch.no_grad()
    def rmse(self):
        return (self.model(self.x_val).squeeze(1) - self.y_val).pow(2).mean().sqrt().item()

    def run(self, until):
        while self.epoch < until:
            total = 0.0
            for xb, yb in self.loader:
                loss = (self.model(xb).squeeze(1) - yb).pow(2).mean()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                total += loss.item() * len(xb)
            self.scheduler.step()
            self.epoch += 1
            if self.epoch % 3 == 0 or self.epoch == until:
                print(f"epoch {self.epoch:3d}  train mse {total / len(self.train_set):.4f}  val rmse {self.rmse():.4f}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=40)
    p.add_argument("--slice", type=int, default=34, help="epochs in the first time slice")
    p.add_argument("--lr", type=float, default=0.03)
    p.add_argument("--lr-end", type=float, default=2e-4)
    args = p.parse_args()

    torch.manual_seed(0)
    first = Job(args)
    first.run(args.slice)
    first.save()

    second = Job(args)
    second.resume()
    second.run(args.epochs)
    print(f"held-out rmse {second.rmse():.4f}   (predicting the mean: {second.y_val.std().item():.4f})")


if __name__ == "__main__":
    main()
