"""Does a passcode use some digit twice?  A small transformer encoder."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

LENGTH, SYMBOLS = 6, 16


def make_codes(n, g):
    y = torch.randint(0, 2, (n,), generator=g)
    x = torch.stack([torch.randperm(SYMBOLS, generator=g)[:LENGTH] for _ in range(n)])
    for row in y.nonzero().flatten().tolist():
        a, b = torch.randperm(LENGTH, generator=g)[:2].tolist()
        x[row, a] = x[row, b]
    return x, y


class CodeEncoder(nn.Module):
    def __init__(self, dim=32, heads=4, layers=2):
        super().__init__()
        self.symbol = nn.Embedding(SYMBOLS, dim)
        self.position = nn.Parameter(torch.randn(1, LENGTH, dim) * 0.02)
        layer = nn.TransformerEncoderLayer(d_model=dim, nhead=heads, dim_feedforward=64, dropout=0.0)
        self.encoder = nn.TransformerEncoder(layer, num_layers=layers)
        self.head = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, x):
        h = self.symbol(x) + self.position
        h = self.encoder(h)
        return self.head(h.mean(dim=1))


def accuracy(model, x, y, batch):
    model.eval()
    hits = 0
    with torch.no_grad():
        for xb, yb in zip(x.split(batch), y.split(batch)):
            hits += (model(xb).argmax(-1) == yb).sum().item()
    return hits / len(y)


def main(args):
    torch.manual_seed(args.seed)
    g = torch.Generator().manual_seed(args.seed)
    x, y = make_codes(4000, g)
    x_test, y_test = make_codes(800, g)
    model = CodeEncoder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01)
    steps = args.epochs * (len(x) // args.batch)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=args.lr, total_steps=steps + args.epochs)
    for epoch in range(args.epochs):
        model.train()
        order = torch.randperm(len(x), generator=g)
        total = 0.0
        for i in range(0, len(x), args.batch):
            rows = order[i:i + args.batch]
            loss = F.cross_entropy(model(x[rows]), y[rows])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            scheduler.step()
            total += loss.item() * len(rows)
        print(f"epoch {epoch + 1} loss {total / len(x):.4f} test acc {accuracy(model, x_test, y_test, args.batch):.3f}")


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=15)
    p.add_argument("--batch", type=int, default=50)
    p.add_argument("--lr", type=float, default=4e-3)
    p.add_argument("--seed", type=int, default=1)
    main(p.parse_args())
