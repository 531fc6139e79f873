"""Semi-supervised node classification on a synthetic citation graph (full-batch GCN, 8 labels per class)."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)
rng = np.random.default_rng(3)

# ---------------------------------------------------------------- graph
K, PER, WORDS = 5, 160, 300
n = K * PER
topic = np.repeat(np.arange(K), PER)
rng.shuffle(topic)
same = topic[:, None] == topic[None, :]
prob = np.where(same, 0.022, 0.0022)
upper = np.triu(rng.random((n, n)) < prob, 1)
adj = upper | upper.T
themes = rng.dirichlet(np.full(WORDS, 0.3), size=K)
mix = 0.25 * themes[topic] + 0.75 * themes.mean(0)
bag = np.stack([rng.multinomial(25, p) for p in mix]) > 0

src, dst = np.nonzero(adj)
X = torch.from_numpy(bag.astype(np.float32))
X = X / X.sum(1, keepdim=True).clamp(min=1)
Y = torch.from_numpy(topic)


def normalised_adjacency(src, dst, n):
    i = torch.from_numpy(np.stack([np.r_[src, np.arange(n)], np.r_[dst, np.arange(n)]]))
    deg = torch.bincount(i[0], minlength=n).float()
    w = deg[i[0]].rsqrt() * deg[i[1]].rsqrt()
    return torch.sparse_coo_tensor(i, w, (n, n)).coalesce()


A = normalised_adjacency(src, dst, n)

# 8 labelled nodes per class, 150 nodes for choosing the epoch, the rest for test
perm = rng.permutation(n)
train_idx = np.concatenate([[i for i in perm if topic[i] == k][:8] for k in range(K)])
rest = np.array([i for i in perm if i not in set(train_idx.tolist())])
idx = {"train": torch.from_numpy(train_idx), "val": torch.from_numpy(rest[:150]), "test": torch.from_numpy(rest[150:])}


class GCN(nn.Module):
    def __init__(self, n_in, hidden, n_out):
        super().__init__()
        self.w1 = nn.Linear(n_in, hidden, bias=False)
        self.w2 = nn.Linear(hidden, n_out, bias=False)
        self.b1, self.b2 = nn.Parameter(torch.zeros(hidden)), nn.Parameter(torch.zeros(n_out))

    def forward(self, x):
        x = F.dropout(x, 0.5, self.training)
        h = torch.sparse.mm(A, self.w1(x))
        h += self.b1
        h = F.dropout(F.relu_(h), 0.5, self.training)
        return torch.sparse.mm(A, self.w2(h)) + self.b2


def accuracy(logits, part):
    return (logits[idx[part]].argmax(1) == Y[idx[part]]).float().mean().item()


def fit(model, epochs=160, lr=0.02):
    # the penalty touches the first layer only, as in the original paper
    opt = torch.optim.Adam([{"params": [model.w1.weight, model.b1], "weight_decay": 5e-4},
                            {"params": [model.w2.weight, model.b2], "weight_decay": 0.0}], lr=lr)
    best, chosen = 0.0, None
    for epoch in range(1, epochs + 1):
        model.train()
        opt.zero_grad()
        loss = F.cross_entropy(model(X)[idx["train"]], Y[idx["train"]])
        loss.backward()
        opt.step()
        model.eval()
        with torch.no_grad():
            out = model(X)
        val = accuracy(out, "val")
        if val > best:
            best, chosen = val, {k: v.clone() for k, v in model.state_dict().items()}
        if epoch % 20 == 0:
            print(f"epoch {epoch:3d}  train loss {loss.item():.3f}  val {val:.3f}")
    model.load_state_dict(chosen)
    return model.eval()


if __name__ == "__main__":
    print(f"{n} nodes, {len(src) // 2} edges, {len(train_idx)} labelled")
    gcn = fit(GCN(WORDS, 32, K))
    mlp = nn.Sequential(nn.Dropout(0.5), nn.Linear(WORDS, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, K))
    mlp_opt = torch.optim.Adam(mlp.parameters(), lr=0.02, weight_decay=5e-4)
    for _ in range(160):
        mlp_opt.zero_grad()
        F.cross_entropy(mlp(X[idx["train"]]), Y[idx["train"]]).backward()
        mlp_opt.step()
    with torch.no_grad():
        print(f"test accuracy: GCN {accuracy(gcn(X), 'test'):.3f}   words only {accuracy(mlp.eval()(X), 'test'):.3f}   "
              f"chance {1 / K:.3f}")
