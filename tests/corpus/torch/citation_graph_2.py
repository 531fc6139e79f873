# Semi-supervised node classification on a citation-like graph: 20 labelled papers per field.
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 9
N_CLASS, PER_CLASS, N_WORDS = 5, 160, 300
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)


def build_graph():
    n = N_CLASS * PER_CLASS
    y = np.repeat(np.arange(N_CLASS), PER_CLASS)
    rng.shuffle(y)
    same = y[:, None] == y[None, :]
    prob = np.where(same, 0.035, 0.003)
    upper = np.triu(rng.random((n, n)) < prob, 1)
    src, dst = np.nonzero(upper)
    base = np.full(N_WORDS, 0.02)
    x = np.zeros((n, N_WORDS), np.float32)
    for c in range(N_CLASS):
        p = base.copy()
        p[c * 30:(c + 1) * 30] = 0.05
        rows = np.nonzero(y == c)[0]
        x[rows] = rng.random((len(rows), N_WORDS)) < p
    x /= np.maximum(x.sum(1, keepdims=True), 1)
    return torch.from_numpy(x), torch.from_numpy(y), np.stack([src, dst])


def normalised_adjacency(edges, n):
    src = np.concatenate([edges[0], edges[1], np.arange(n)])
    dst = np.concatenate([edges[1], edges[0], np.arange(n)])
    deg = np.bincount(src, minlength=n).astype(np.float32)
    val = 1.0 / np.sqrt(deg[src] * deg[dst])
    return torch.sparse_coo_tensor(np.stack([src, dst]), torch.from_numpy(val), (n, n)).coalesce()


class GraphConv(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(a, b))
        self.bias = nn.Parameter(torch.zeros(b))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, adj, x):
        return torch.sparse.mm(adj, x @ self.weight) + self.bias


class GCN(nn.Module):
    def __init__(self, d_in, d_hidden, k, drop):
        super().__init__()
        self.g1, self.g2 = GraphConv(d_in, d_hidden), GraphConv(d_hidden, k)
        self.drop = drop

    def forward(self, adj, x):
        x = F.dropout(x, self.drop, self.training)
        x = F.relu(self.g1(adj, x))
        x = F.dropout(x, self.drop, self.training)
        return self.g2(adj, x)


x, y, edges = build_graph()
adj = normalised_adjacency(edges, len(y))

order = torch.randperm(len(y))
train_mask = torch.zeros(len(y), dtype=torch.bool)
for c in range(N_CLASS):
    train_mask[order[y[order] == c][:20]] = True
rest = order[~train_mask[order]]
val_idx, test_idx = rest[:200], rest[200:]

model = GCN(N_WORDS, 32, N_CLASS, drop=0.6)
optimizer = torch.optim.Adam([
    {"params": model.g1.parameters(), "weight_decay": 5e-3},
    {"params": model.g2.parameters(), "weight_decay": 0.0},
], lr=0.02)

best_val, best_state, patience = 0.0, None, 0
for epoch in range(1, 301):
    model.train()
    optimizer.zero_grad()
    logits = model(adj, x)                    # whole graph, the loss sees only the labelled papers
    loss = F.cross_entropy(logits[train_mask], y[train_mask])
    loss.backward()
    optimizer.step()

    model.eval()
    with torch.no_grad():
        pred = model(adj, x).argmax(1)
    val = (pred[val_idx] == y[val_idx]).float().mean().item()
    if val > best_val:
        best_val, patience = val, 0
        best_state = {k: v.detach().clone() for k, v in model.state_dict().items()}
    else:
        patience += 1
    if epoch % 25 == 0:
        print(f"epoch {epoch:3d} loss {loss.item():.3f} val {val:.3f} best {best_val:.3f}")
    if patience >= 80:
        print("no progress for 80 epochs, stopping at", epoch)
        break

model.load_state_dict(best_state)
model.eval()
with torch.no_grad():
    pred = model(adj, x).argmax(1)
    eye = torch.sparse_coo_tensor(np.stack([np.arange(len(y))] * 2), torch.ones(len(y)), adj.shape)
    no_graph = model(eye, x).argmax(1)
test_acc = (pred[test_idx] == y[test_idx]).float().mean().item()
print(f"{int(train_mask.sum())} labelled, {len(test_idx)} test papers")
print(f"majority {np.bincount(y[test_idx]).max() / len(test_idx):.3f}, same weights without links "
      f"{(no_graph[test_idx] == y[test_idx]).float().mean():.3f}, test accuracy {test_acc:.3f}")
