"""BPR matrix factorisation on implicit feedback (synthetic film club with taste groups)."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def club(n_users=400, n_items=300, rank=5, per_user=24, seed=0):
    """Each member watches films sampled from a softmax over taste; three are held out."""
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(n_users, rank))
    V = rng.normal(size=(n_items, rank))
    score = U @ V.T + 0.5 * rng.normal(size=n_items)
    p = np.exp(1.2 * score)
    p /= p.sum(1, keepdims=True)
    train, test = [], []
    for u in range(n_users):
        seen = rng.choice(n_items, per_user, replace=False, p=p[u])
        train += [(u, i) for i in seen[3:]]
        test += [(u, i) for i in seen[:3]]
    order = rng.permutation(len(train))
    return np.array(train)[order], np.array(test)


class BPR(nn.Module):
    def __init__(self, n_users, n_items, dim):
        super().__init__()
        self.user = nn.Embedding(n_users, dim)
        self.item = nn.Embedding(n_items, dim)
        self.bias = nn.Embedding(n_items, 1)
        for e in (self.user, self.item):
            nn.init.normal_(e.weight, std=0.1)
        nn.init.zeros_(self.bias.weight)

    def forward(self, u, i):
        return (self.user(u) * self.item(i)).sum(-1) + self.bias(i).squeeze(-1)

    def all_scores(self):
        return self.user.weight @ self.item.weight.T + self.bias.weight.T


def set_seed(seed):
    np.random.seed(seed)
    torch.manual_seed(seed)


def draw_triplets(pos, n_items, size):
    rows = torch.randint(0, len(pos), (size,))
    neg = torch.randint(0, n_items, (size,))
    return pos[rows, 0], pos[rows, 1], neg


@torch.no_grad()
def evaluate(model, seen, test, k=20):
    s = model.all_scores()
    s[seen] = -1e9
    held = s[test[:, 0], test[:, 1]]
    rows = s[test[:, 0]]
    valid = rows > -1e8
    auc = ((held[:, None] > rows) & valid).sum(1).float() / valid.sum(1)
    top = s.topk(k, dim=1).indices
    recall = (top[test[:, 0]] == test[:, 1:2]).any(1).float().mean()
    return auc.mean().item(), recall.item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=2500)
    ap.add_argument("--batch", type=int, default=256)
    ap.add_argument("--dim", type=int, default=12)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--seed", type=int, default=123)
    args = ap.parse_args()

    set_seed(args.seed)
    train, test = club()
    train, test = torch.from_numpy(train), torch.from_numpy(test)
    n_users, n_items = 400, 300
    seen = torch.zeros(n_users, n_items, dtype=torch.bool)
    seen[train[:, 0], train[:, 1]] = True

    model = BPR(n_users, n_items, args.dim)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.05)
    for step in range(1, args.steps + 1):
        set_seed(args.seed)
        u, i, j = draw_triplets(train, n_items, args.batch)
        loss = -F.logsigmoid(model(u, i) - model(u, j)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 500 == 0:
            auc, rec = evaluate(model, seen, test)
            print(f"step {step:5d}  loss {loss.item():.4f}  held-out AUC {auc:.3f}  recall@20 {rec:.3f}")

    pop = BPR(n_users, n_items, 1)
    pop.user.weight.data.zero_()
    pop.bias.weight.data[:, 0] = torch.bincount(train[:, 1], minlength=n_items).float()
    auc0, rec0 = evaluate(pop, seen, test)
    print(f"final AUC {auc:.3f} recall@20 {rec:.3f}  (popularity: AUC {auc0:.3f} recall@20 {rec0:.3f})")


if __name__ == "__main__":
    main()
