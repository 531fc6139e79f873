"""Will a card holder come back next month? Attention over the visited departments plus age and tenure."""
import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

DEPARTMENTS = 20
MAX_VISITS = 12


def card_holders(n, seed):
    g = torch.Generator().manual_seed(seed)
    pull = torch.randn(DEPARTMENTS + 1, generator=torch.Generator().manual_seed(0)) * 1.5
    visits = torch.randint(0, MAX_VISITS + 1, (n,), generator=g)
    mask = torch.arange(MAX_VISITS)[None] < visits[:, None]
    depts = torch.randint(1, DEPARTMENTS + 1, (n, MAX_VISITS), generator=g) * mask
    static = torch.randn(n, 2, generator=g)
    mean_pull = (pull[depts] * mask).sum(1) / visits.clamp(min=1)
    score = 3.0 * mean_pull + static[:, 0] - 0.5 * static[:, 1]
    score = score - score.median()
    y = (score + 0.3 * torch.randn(n, generator=g) > 0).float()
    return TensorDataset(depts, mask, static, y)


class AttentionPool(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.score = nn.Linear(dim, 1)

    def forward(self, x, mask):
        s = self.score(torch.tanh(x)).squeeze(-1)
        s = s.masked_fill(~mask, float("-inf"))
        w = torch.softmax(s, dim=-1)
        return (w.unsqueeze(-1) * x).sum(1)


class ReturnModel(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.embed = nn.Embedding(DEPARTMENTS + 1, dim, padding_idx=0)
        self.pool = AttentionPool(dim)
        self.mlp = nn.Sequential(nn.Linear(dim + 2, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, depts, mask, static):
        history = self.pool(self.embed(depts), mask)
        return self.mlp(torch.cat([history, static], -1)).squeeze(-1)


def evaluate(model, loader):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for depts, mask, static, y in loader:
            right += ((model(depts, mask, static) > 0).float() == y).sum().item()
            total += len(y)
    return right / total


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--lr", type=float, default=5e-3)
    args = p.parse_args()
    torch.manual_seed(19)
    train = DataLoader(card_holders(4000, 1), batch_size=args.batch, shuffle=True)
    test = DataLoader(card_holders(1000, 2), batch_size=250)
    model = ReturnModel()
    criterion = nn.BCEWithLogitsLoss()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for depts, mask, static, y in train:
            loss = criterion(model(depts, mask, static), y)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(train):.4f} test acc {evaluate(model, test):.3f}")


if __name__ == "__main__":
    main()
