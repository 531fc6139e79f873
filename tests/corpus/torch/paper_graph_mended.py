# Node classification on a citation-like graph with a two-layer GCN.
# (exported from a notebook)

# %% imports
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
rng = np.random.default_rng(4)

# %% build the graph: six topics, papers cite mostly inside their own topic
n_nodes, n_topics, n_words = 900, 6, 120
topic = rng.integers(0, n_topics, n_nodes)
same = topic[:, None] == topic[None, :]
prob = np.where(same, 0.022, 0.0022)
upper = np.triu(rng.random((n_nodes, n_nodes)) < prob, 1)
adj = torch.from_numpy((upper | upper.T).astype(np.float32))

# bag of words: each topic prefers some words, but single papers are noisy
topic_words = rng.dirichlet(np.full(n_words, 0.5), n_topics)
background = rng.dirichlet(np.full(n_words, 1.0))
bags = np.stack([rng.multinomial(14, 0.5 * topic_words[t] + 0.5 * background) for t in topic])
x = torch.from_numpy((bags > 0).astype(np.float32))
y = torch.from_numpy(topic)

# %% splits
perm = torch.from_numpy(rng.permutation(n_nodes))
train_idx, val_idx, test_idx = perm[:180], perm[180:400], perm[400:]


# %% model
def normalise(a):
    a = a + torch.eye(len(a))
    d = a.sum(1).rsqrt()
    return d[:, None] * a * d[None, :]


class GCN(nn.Module):
    def __init__(self, n_in, n_hidden, n_out, dropout=0.5):
        super().__init__()
        self.lin1 = nn.Linear(n_in, n_hidden)
        self.lin2 = nn.Linear(n_hidden, n_out)
        self.dropout = dropout

    def forward(self, x, a_hat):
        x = F.dropout(x, self.dropout, self.training)
        x = F.relu(a_hat @ self.lin1(x))
        x = F.dropout(x, self.dropout, self.training)
        return a_hat @ self.lin2(x)


a_hat = normalise(adj)
model = GCN(n_words, 32, n_topics)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)


@torch.no_grad()
def accuracy(idx):
    model.eval()
    pred = model(x, a_hat)[idx].argmax(1)
    return (pred == y[idx]).float().mean().item()


# %% training
losses = []
for epoch in range(1, 201):
    model.train()
    optimizer.zero_grad()
    out = model(x, a_hat)
    loss = F.cross_entropy(out[train_idx], y[train_idx])
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    if epoch % 20 == 0:
        print(f"epoch {epoch:3d}  loss {np.mean(losses[-20:]):.4f}  val acc {accuracy(val_idx):.3f}")

# %% result
majority = torch.bincount(y[train_idx]).argmax()
print(f"majority class: {(y[test_idx] == majority).float().mean().item():.3f}")
print(f"test accuracy:  {accuracy(test_idx):.3f}")
