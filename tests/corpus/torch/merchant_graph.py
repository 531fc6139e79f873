import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

SEED = 31
N = 600
rng = np.random.default_rng(SEED)


def merchants():
    group = rng.integers(0, 3, size=N)
    link = np.where(group[:, None] == group[None], 0.02, 0.008)
    upper = np.triu(rng.random((N, N)) < link, 1)
    adj = (upper | upper.T).astype("float32")
    turnover = rng.lognormal(11, 0.6, size=N)
    transactions = rng.poisson(2500, size=N) + rng.normal(0, 400, size=N)
    founded = rng.integers(1965, 2022, size=N)
    refund_rate = 0.03 + 0.006 * (group == 1) + rng.normal(0, 0.006, size=N)
    night_share = 0.20 + 0.04 * (group == 2) + rng.normal(0, 0.04, size=N)
    rating = 3.9 - 0.15 * (group == 0) + rng.normal(0, 0.15, size=N)
    feats = np.column_stack([turnover, transactions, founded, refund_rate, night_share, rating])
    return feats, adj, group


def normalise_adjacency(adj):
    a = adj + np.eye(len(adj), dtype="float32")
    d = 1 / np.sqrt(a.sum(1))
    return torch.from_numpy(a * d[:, None] * d[None])


class GCN(nn.Module):
    def __init__(self, n_in, hidden, n_out):
        super().__init__()
        self.w1 = nn.Linear(n_in, hidden)
        self.w2 = nn.Linear(hidden, hidden)
        self.w3 = nn.Linear(hidden, n_out)

    def forward(self, x, a):
        x = F.relu(self.w1(a @ x))
        x = F.dropout(x, 0.2, self.training)
        x = F.relu(self.w2(a @ x))
        return self.w3(x)


def fit(x, a, y, train_id, valid_id, lr, hidden, epochs=150):
    torch.manual_seed(SEED)
    net = GCN(x.shape[1], hidden, 3)
    opt = torch.optim.Adam(net.parameters(), lr=lr, weight_decay=1e-4)
    best, best_state = -1.0, None
    for _ in range(epochs):
        net.train()
        opt.zero_grad()
        loss = F.cross_entropy(net(x, a)[train_id], y[train_id])
        loss.backward()
        opt.step()
        net.eval()
        with torch.no_grad():
            acc = (net(x, a)[valid_id].argmax(1) == y[valid_id]).float().mean().item()
        if acc > best:
            best, best_state = acc, {k: v.clone() for k, v in net.state_dict().items()}
    net.load_state_dict(best_state)
    return net.eval(), best, loss.item()


raw, adj, group = merchants()
order = rng.permutation(N)
train_id, valid_id, test_id = order[:300], order[300:420], order[420:]
x = torch.tensor(raw, dtype=torch.float32)
y = torch.tensor(group)
a = normalise_adjacency(adj)

leader = None
for lr in (3e-3, 1e-2, 3e-2):
    for hidden in (16, 48):
        net, valid_acc, last_loss = fit(x, a, y, train_id, valid_id, lr, hidden)
        print(f"lr {lr:<6} hidden {hidden:<3} final train loss {last_loss:10.3f}  valid acc {valid_acc:.3f}")
        if leader is None or valid_acc > leader[0]:
            leader = (valid_acc, lr, hidden, net)

_, lr, hidden, net = leader
with torch.no_grad():
    test_acc = (net(x, a)[test_id].argmax(1) == y[test_id]).float().mean().item()
share = np.bincount(group[test_id]).max() / len(test_id)
print(f"chosen lr {lr} hidden {hidden}: test accuracy {test_acc:.3f} (largest group {share:.3f})")
