# Item recommendation from implicit feedback: pairwise ranking with sparse embedding updates.
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

rng = np.random.default_rng(11)
torch.manual_seed(11)
USERS, ITEMS, PER_USER = 400, 300, 25

taste = rng.normal(size=(USERS, 6))
trait = rng.normal(size=(ITEMS, 6))
affinity = taste @ trait.T + 0.5 * rng.gumbel(size=(USERS, ITEMS))
liked = np.argsort(-affinity, axis=1)[:, :PER_USER]
liked = rng.permuted(liked, axis=1)
train_items, test_item = liked[:, :-1], liked[:, -1]

seen = np.zeros((USERS, ITEMS), dtype=bool)
np.put_along_axis(seen, train_items, True, axis=1)


class Clicks(Dataset):
    def __init__(self):
        self.users = np.repeat(np.arange(USERS), train_items.shape[1])
        self.items = train_items.reshape(-1)

    def __len__(self):
        return len(self.users)

    def __getitem__(self, i):
        user = self.users[i]
        other = rng.integers(ITEMS)
        while seen[user, other]:
            other = rng.integers(ITEMS)
        return user, self.items[i], other


class Factors(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.user = nn.Embedding(USERS, dim, sparse=True)
        self.item = nn.Embedding(ITEMS, dim, sparse=True)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)

    def forward(self, user, item):
        return (self.user(user) * self.item(item)).sum(-1)

    @torch.no_grad()
    def hit_rate(self, k=10):
        scores = self.user.weight @ self.item.weight.T
        scores[torch.from_numpy(seen)] = -torch.inf
        top = scores.topk(k, dim=1).indices
        return (top == torch.from_numpy(test_item)[:, None]).any(1).float().mean().item()


popular = np.where(seen, -1, seen.sum(0)[None, :])
top_popular = np.argsort(-popular, axis=1)[:, :10]
print(f"popularity HR@10 {(top_popular == test_item[:, None]).any(1).mean():.3f}")

loader = DataLoader(Clicks(), batch_size=256, shuffle=True)
net = Factors()
optimizer = torch.optim.SparseAdam(net.parameters(), lr=0.01)

for epoch in range(15):
    running = 0.0
    for user, pos, neg in loader:
        margin = net(user, pos) - net(user, neg)
        squares = net.user(user).pow(2).sum(-1) + net.item(pos).pow(2).sum(-1) + net.item(neg).pow(2).sum(-1)
        loss = -F.logsigmoid(margin).mean() + 0.005 * squares.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1:2d}  loss {running / len(loader):.4f}  HR@10 {net.hit_rate():.3f}")
