"""Semi-supervised node labels on a road network: two-layer GCN written with sparse matrices.

Full-batch training: the whole graph goes through the net, the loss looks at the labelled
nodes only. Optimizer is plain LBFGS, 40 outer steps.
"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)
torch.set_num_threads(1)
rng = np.random.default_rng(4)

N, BLOCKS, FEATS = 1200, 6, 40
block = rng.integers(0, BLOCKS, N)
p = np.where(block[:, None] == block[None, :], 0.02, 0.0015)
upper = np.triu(rng.random((N, N)) < p, 1)
src, dst = np.nonzero(upper)
feats = rng.normal(0, 1, (N, FEATS)) + 0.45 * rng.normal(0, 1, (BLOCKS, FEATS))[block]

x = torch.tensor(feats, dtype=torch.float32)
y = torch.tensor(block)
order = torch.tensor(rng.permutation(N))
labelled, val, test = order[:120], order[120:320], order[320:]


def normalised_adjacency(src, dst, n):
    loops = np.arange(n)
    rows = torch.tensor(np.concatenate([src, dst, loops]))
    cols = torch.tensor(np.concatenate([dst, src, loops]))
    deg = torch.bincount(rows, minlength=n).float()
    w = deg[rows].rsqrt() * deg[cols].rsqrt()
    return torch.sparse_coo_tensor(torch.stack([rows, cols]), w, (n, n)).coalesce()


class GCN(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.lin1 = nn.Linear(FEATS, hidden)
        self.lin2 = nn.Linear(hidden, BLOCKS)

    def forward(self, adj, x):
        h = torch.tanh(torch.sparse.mm(adj, self.lin1(x)))
        return torch.sparse.mm(adj, self.lin2(h))


adj = normalised_adjacency(src, dst, N)
print(f"{N} nodes, {adj._nnz()} entries, {len(labelled)} labelled")
net = GCN()
opt = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=5, history_size=10, line_search_fn="strong_wolfe")


def score(idx):
    net.eval()
    with torch.no_grad():
        return (net(adj, x)[idx].argmax(1) == y[idx]).float().mean().item()


best_val, keep = 0.0, None
for step in range(40):
    net.train()

    def closure():
        opt.zero_grad()
        out = net(adj, x)
        l2 = sum((w ** 2).sum() for n, w in net.named_parameters() if n.endswith("weight"))
        loss = F.cross_entropy(out[labelled], y[labelled]) + 2e-3 * l2
        loss.backward()
        return loss

    loss = opt.step(closure)
    v = score(val)
    if v >= best_val:
        best_val, keep = v, {k: t.clone() for k, t in net.state_dict().items()}
    if step % 8 == 7:
        print(f"step {step + 1:2d} loss {loss.item():.3f} val {v:.3f}")

net.load_state_dict(keep)
features_only = np.linalg.norm(feats[:, None] - np.stack([feats[labelled.numpy()][block[labelled.numpy()] == b].mean(0)
                                                        for b in range(BLOCKS)])[None], axis=2).argmin(1)
nearest = (features_only[test.numpy()] == block[test.numpy()]).mean()
print(f"test accuracy {score(test):.3f}  nearest-centroid on features {nearest:.3f}  chance {1 / BLOCKS:.3f}")
