"""Assign parcels to one of eight depots from scan features. Micro-batches keep memory low on the scanner box."""
import argparse
import torch
from torch import nn


def make_parcels(n, seed, n_depots=8, n_feat=24):
    centre_gen = torch.Generator().manual_seed(99)
    centres = torch.randn(n_depots, n_feat, generator=centre_gen)
    warp = torch.randn(n_feat, n_feat, generator=centre_gen) / n_feat ** 0.5
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, n_depots, (n,), generator=g)
    x = centres[y] + 0.9 * torch.randn(n, n_feat, generator=g)
    x = x + torch.tanh(x @ warp)
    return x, y


class DepotNet(nn.Module):
    def __init__(self, n_feat, hidden, n_depots):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(n_feat, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
        )
        self.out = nn.Linear(hidden, n_depots)

    def forward(self, x):
        return self.out(self.body(x))


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    acc = (model(x).argmax(1) == y).float().mean().item()
    model.train()
    return acc


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=15)
    ap.add_argument("--micro", type=int, default=16)
    ap.add_argument("--accum", type=int, default=16)
    ap.add_argument("--lr", type=float, default=0.1)
    ap.add_argument("--momentum", type=float, default=0.9)
    args = ap.parse_args()

    torch.manual_seed(0)
    xtr, ytr = make_parcels(16384, seed=1)
    xva, yva = make_parcels(3000, seed=2)

    model = DepotNet(xtr.shape[1], 96, 8)
    opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=args.momentum)
    loss_fn = nn.CrossEntropyLoss()

    for epoch in range(args.epochs):
        perm = torch.randperm(len(xtr))
        chunks = perm.split(args.micro)
        running = 0.0
        opt.zero_grad()
        for i, idx in enumerate(chunks):
            loss = loss_fn(model(xtr[idx]), ytr[idx])
            loss.backward()
            running += loss.item()
            if (i + 1) % args.accum == 0:
                opt.step()
                opt.zero_grad()
        print(f"epoch {epoch:2d}  train loss {running / len(chunks):.4f}  val acc {accuracy(model, xva, yva):.3f}")

    print("final accuracy", round(accuracy(model, xva, yva), 3))


if __name__ == "__main__":
    main()
