"""Semi-supervised node classification with a two-layer GCN written by hand."""
import copy
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def planted_graph(n=800, k=4, p_in=0.02, p_out=0.003, d=50, seed=2):
    rng = np.random.default_rng(seed)
    y = np.sort(rng.integers(0, k, n))
    prob = np.where(y[:, None] == y[None, :], p_in, p_out)
    a = np.triu(rng.random((n, n)) < prob, 1)
    a = (a | a.T).astype(np.float32)
    topics = rng.random((k, d)) < 0.25
    x = (rng.random((n, d)) < np.where(topics[y], 0.16, 0.08)).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy(a), torch.from_numpy(y)


def normalise(a):
    a = a + torch.eye(len(a))
    inv = a.sum(1).pow(-0.5)
    return (inv[:, None] * a * inv[None, :]).to_sparse()


class GraphConv(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(d_in, d_out))
        self.bias = nn.Parameter(torch.zeros(d_out))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, adj):
        return torch.sparse.mm(adj, x @ self.weight) + self.bias


class GCN(nn.Module):
    def __init__(self, d_in, hidden, k, dropout=0.5):
        super().__init__()
        self.gc1, self.gc2 = GraphConv(d_in, hidden), GraphConv(hidden, k)
        self.dropout = dropout

    def forward(self, x, adj):
        x = F.dropout(x, self.dropout, self.training)
        x = F.relu(self.gc1(x, adj))
        x = F.dropout(x, self.dropout, self.training)
        return F.log_softmax(self.gc2(x, adj), dim=1)


torch.manual_seed(2)
x, a, y = planted_graph()
adj = normalise(a)
order = torch.cat([torch.where(y == c)[0][torch.randperm(int((y == c).sum()))[:15]] for c in range(4)])
idx_train = order                                   # 15 labelled nodes a class
rest = torch.tensor([i for i in range(len(y)) if i not in set(order.tolist())])
rest = rest[torch.randperm(len(rest))]
idx_val, idx_test = rest[:200], rest[200:]

model = GCN(x.shape[1], 16, 4)
optimizer = torch.optim.Adam([
    {"params": model.gc1.parameters(), "weight_decay": 5e-3},
    {"params": model.gc2.parameters(), "weight_decay": 0.0},
], lr=0.02)

best, best_state, wait = 0.0, None, 0
for epoch in range(400):
    model.train()
    optimizer.zero_grad()
    out = model(x, adj)
    loss = F.nll_loss(out[idx_train], y[idx_train])
    loss.backward()
    optimizer.step()

    model.eval()
    with torch.no_grad():
        pred = model(x, adj).argmax(1)
    val = (pred[idx_val] == y[idx_val]).float().mean().item()
    if val > best:
        best, best_state, wait = val, copy.deepcopy(model.state_dict()), 0
    else:
        wait += 1
    if epoch % 25 == 0:
        print(f"epoch {epoch:3d} loss {loss.item():.4f} val {val:.3f}")
    if wait > 100:
        print("stopping at epoch", epoch)
        break

model.load_state_dict(best_state)
model.eval()
with torch.no_grad():
    pred = model(x, adj).argmax(1)
print(f"test accuracy {(pred[idx_test] == y[idx_test]).float().mean().item():.3f}")
