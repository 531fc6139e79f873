"""Breast cancer classifier trained in micro-batches on a small device."""
import argparse

import torch
import torch.nn.functional as F
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=25)
    p.add_argument("--micro-batch", type=int, default=4)
    p.add_argument("--effective-batch", type=int, default=32)
    p.add_argument("--lr", type=float, default=0.1)
    return p.parse_args()


class TwoWay(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.hidden = nn.Linear(n_in, 16)
        self.out = nn.Linear(16, 2)

    def forward(self, x):
        x = torch.tanh(self.hidden(x))
        return F.log_softmax(self.out(x), dim=1)


def train(model, loader, args):
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs)
    every = args.effective_batch // args.micro_batch
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for step, (x, y) in enumerate(loader, start=1):
            loss = F.nll_loss(model(x), y, reduction="sum")
            (loss / args.effective_batch).backward()
            total += loss.item()
            if step % every == 0 or step == len(loader):
                optimizer.step()
                optimizer.zero_grad()
        schedule.step()
        if epoch % 5 == 0:
            print(f"epoch {epoch:2d} loss {total / (len(loader) * args.micro_batch):.4f}")


@torch.no_grad()
def test(model, x, y):
    model.eval()
    logp = model(x)
    return F.nll_loss(logp, y).item(), (logp.argmax(1) == y).float().mean().item()


def main():
    args = parse_args()
    torch.manual_seed(2)
    x, y = load_breast_cancer(return_X_y=True)
    x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y)
    tr, te = train_test_split(range(len(y)), test_size=0.25, random_state=2, stratify=y)
    x = (x - x[tr].mean(0)) / x[tr].std(0)
    loader = DataLoader(
        TensorDataset(x[tr], y[tr]), batch_size=args.micro_batch, shuffle=True, drop_last=True
    )
    model = TwoWay(x.shape[1])
    train(model, loader, args)
    loss, acc = test(model, x[te], y[te])
    base = max(y[te].float().mean().item(), 1 - y[te].float().mean().item())
    print(f"test loss {loss:.4f} accuracy {acc:.4f} (majority {base:.4f})")


if __name__ == "__main__":
    main()
