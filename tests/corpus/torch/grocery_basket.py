"""Two-tower model for the next grocery basket, in-batch softmax with a correction for item frequency.

Households buy the same things again, so past purchases stay among the candidates.
"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

HOUSES, ITEMS, AISLES = 800, 240, 12
torch.manual_seed(9)
rng = np.random.default_rng(9)

# ---- simulate ten weeks of history and one target week -----------------------------------------
aisle = rng.integers(0, AISLES, ITEMS)
price_level = rng.normal(0, 1, ITEMS)
staple = rng.gamma(0.7, 1.0, ITEMS)
history = np.zeros((HOUSES, ITEMS), np.float32)
target = np.zeros((HOUSES, ITEMS), np.float32)
for h in range(HOUSES):
    aisle_taste = rng.dirichlet(np.full(AISLES, 0.5))[aisle]
    budget = rng.normal()
    like = aisle_taste * np.exp(0.6 * budget * price_level) * (0.1 + staple) * rng.gamma(0.4, 1.0, ITEMS)
    p = like / like.sum()
    for week in range(10):
        history[h] += np.bincount(rng.choice(ITEMS, 6, p=p), minlength=ITEMS)
    target[h, rng.choice(ITEMS, 8, p=p)] = 1
train_h, test_h = np.arange(600), np.arange(600, HOUSES)

hist = torch.tensor(history)
item_feat = torch.cat([F.one_hot(torch.tensor(aisle), AISLES).float(), torch.tensor(price_level).float()[:, None]], 1)
freq = torch.tensor(target[train_h].sum(0) + 1.0)
log_q = (freq / freq.sum()).log()


class TwoTower(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.item_id = nn.Embedding(ITEMS, dim)
        self.item_side = nn.Linear(AISLES + 1, dim, bias=False)
        self.house = nn.Sequential(nn.Linear(ITEMS, 128), nn.ReLU(), nn.Linear(128, dim))
        self.habit = nn.Parameter(torch.zeros(1))
        nn.init.normal_(self.item_id.weight, std=0.05)

    def items(self, idx):
        return self.item_id(idx) + self.item_side(item_feat[idx])

    def score(self, h, idx):
        x = torch.log1p(hist[h])
        return self.house(x) @ self.items(idx).T + self.habit * x[:, idx]


pairs = torch.tensor(np.argwhere(target[train_h] > 0))
model = TwoTower()
opt = torch.optim.Adagrad(model.parameters(), lr=0.05)
every = torch.arange(ITEMS)


@torch.no_grad()
def recall(scores, truth, k=10):
    hit = truth.gather(1, scores.topk(k, 1).indices).sum(1)
    return (hit / truth.sum(1).clamp(max=k)).mean().item()


truth = torch.tensor(target[test_h])
for epoch in range(1, 6):
    model.train()
    total = 0.0
    for idx in torch.randperm(len(pairs)).split(128):
        h, i = pairs[idx].T
        logits = model.score(h, i) - log_q[i]
        # the same item bought by another household in the batch is no negative
        clash = (i.unsqueeze(0) == i.unsqueeze(1)) & ~torch.eye(len(i), dtype=torch.bool)
        loss = F.cross_entropy(logits.masked_fill(clash, -1e9), torch.arange(len(i)))
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(i)
    model.eval()
    with torch.no_grad():
        r = recall(model.score(torch.tensor(test_h), every), truth)
    print(f"epoch {epoch:2d}  sampled softmax {total / len(pairs):.4f}  recall@10 next basket {r:.4f}  habit {model.habit.item():.2f}")

popular = freq.expand(len(test_h), -1)
print(f"unseen households: recall@10 {r:.4f}, most bought items {recall(popular, truth):.4f}, "
      f"chance {10 / ITEMS:.4f}")
