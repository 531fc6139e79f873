import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

rng = np.random.default_rng(2)
torch.manual_seed(2)

USERS, RECORDS, DIM = 300, 200, 16
taste = rng.normal(size=(USERS, 4))
style = rng.normal(size=(RECORDS, 4))
affinity = taste @ style.T + rng.gumbel(0, 0.5, (USERS, RECORDS))
bought = np.argsort(-affinity, 1)[:, :20]
for row in bought:
    rng.shuffle(row)
train_pairs = torch.tensor([(u, i) for u in range(USERS) for i in bought[u, :16]])
held_out = bought[:, 16:]
seen = torch.zeros(USERS, RECORDS, dtype=torch.bool)
seen[train_pairs[:, 0], train_pairs[:, 1]] = True


class BPR(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(USERS, DIM, sparse=True)
        self.item = nn.Embedding(RECORDS, DIM, sparse=True)
        self.bias = nn.Parameter(torch.zeros(RECORDS))
        nn.init.normal_(self.user.weight, std=0.05)
        nn.init.normal_(self.item.weight, std=0.05)

    def forward(self, u, i):
        return (self.user(u) * self.item(i)).sum(-1) + self.bias[i]


model = BPR()
sparse_opt = torch.optim.SparseAdam([model.user.weight, model.item.weight], lr=0.01)
dense_opt = torch.optim.SGD([model.bias], lr=1e-2)


def recall_at_20():
    with torch.no_grad():
        scores = model.user.weight @ model.item.weight.T + model.bias
    scores[seen] = -1e9
    top = scores.topk(20).indices.numpy()
    return np.mean([len(set(top[u]) & set(held_out[u])) / 4 for u in range(USERS)])


print("before", round(recall_at_20(), 3))
for epoch in range(20):
    total = 0.0
    for chunk in torch.randperm(len(train_pairs)).split(256):
        u, pos = train_pairs[chunk].T
        neg = torch.randint(0, RECORDS, (len(u),))
        keep = ~seen[u, neg]
        u, pos, neg = u[keep], pos[keep], neg[keep]
        loss = -F.logsigmoid(model(u, pos) - model(u, neg)).sum()
        loss = loss + 1e-3 * (model.user(u) ** 2).sum()
        sparse_opt.zero_grad()
        dense_opt.zero_grad()
        loss.backward()
        sparse_opt.step()
        dense_opt.step()
        total += loss.item()
    if epoch % 4 == 3:
        print("epoch", epoch + 1, "loss", round(total, 1), "recall@20", round(recall_at_20(), 3))
