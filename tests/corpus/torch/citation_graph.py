"""Semi-supervised topic labels on a citation graph; 10 labelled papers per topic, dense two-hop propagation."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression

TOPICS, PAPERS, WORDS = 5, 1000, 200


def build_graph(seed=0):
    g = np.random.default_rng(seed)
    topic = g.integers(0, TOPICS, PAPERS)
    same = topic[:, None] == topic[None, :]
    prob = np.where(same, 0.018, 0.0018)
    upper = np.triu(g.random((PAPERS, PAPERS)) < prob, 1)
    adj = (upper | upper.T).astype(np.float32)
    base = g.dirichlet(np.ones(WORDS) * 0.5)
    own = g.dirichlet(np.ones(WORDS) * 0.5, TOPICS)
    words = np.stack([g.multinomial(25, 0.8 * base + 0.2 * own[t]) for t in topic]).astype(np.float32)
    return torch.from_numpy(adj), torch.from_numpy((words > 0).astype(np.float32)), torch.from_numpy(topic)


def split(topic, per_class=10, seed=0):
    g = np.random.default_rng(seed)
    order = g.permutation(len(topic))
    train = np.concatenate([order[topic.numpy()[order] == k][:per_class] for k in range(TOPICS)])
    rest = np.setdiff1d(order, train)
    rest = g.permutation(rest)
    return [torch.from_numpy(i) for i in (train, rest[:300], rest[300:])]


def normalise(adj):
    a = adj + torch.eye(len(adj))
    d = a.sum(1).rsqrt()
    return d[:, None] * a * d[None, :]


def drop_edges(adj, p):
    keep = torch.triu((torch.rand_like(adj) > p).float(), 1)
    return adj * (keep + keep.T)


class GraphNet(nn.Module):
    def __init__(self, d_in, hidden, n_out):
        super().__init__()
        self.w1 = nn.Parameter(torch.empty(d_in, hidden))
        self.w2 = nn.Parameter(torch.empty(hidden, n_out))
        for w in (self.w1, self.w2):
            nn.init.xavier_uniform_(w)

    def forward(self, a, x):
        x = F.dropout(x, 0.5, training=self.training)
        h = F.relu(a @ (x @ self.w1))
        h = F.dropout(h, 0.5, training=self.training)
        return a @ (h @ self.w2)


def main():
    torch.manual_seed(6)
    adj, x, y = build_graph()
    x = x / x.sum(1, keepdim=True).clamp(min=1)
    train, valid, test = split(y)
    full = normalise(adj)
    print(f"{int(adj.sum()) // 2} edges, {len(train)} labelled, {len(valid)} for validation, {len(test)} for test")

    net = GraphNet(WORDS, 32, TOPICS)
    opt = torch.optim.Adam([{"params": [net.w1], "weight_decay": 5e-4}, {"params": [net.w2], "weight_decay": 0.0}], lr=0.01)
    best, best_epoch, state, patience = 0.0, 0, None, 60
    for epoch in range(1, 301):
        net.train()
        a = normalise(drop_edges(adj, 0.1))
        loss = F.cross_entropy(net(a, x)[train], y[train])
        opt.zero_grad()
        loss.backward()
        opt.step()

        net.eval()
        with torch.no_grad():
            guess = net(full, x).argmax(1)
        val = (guess[valid] == y[valid]).float().mean().item()
        if val > best:
            best, best_epoch, state = val, epoch, {k: v.clone() for k, v in net.state_dict().items()}
        if epoch % 25 == 0:
            print(f"epoch {epoch:3d} loss {loss.item():.4f} valid {val:.3f}")
        if epoch - best_epoch >= patience:
            print(f"no better result for {patience} epochs, stopped at {epoch}")
            break

    net.load_state_dict(state)
    net.eval()
    with torch.no_grad():
        acc = (net(full, x).argmax(1)[test] == y[test]).float().mean().item()
    words_only = LogisticRegression(max_iter=2000, C=10).fit(x[train].numpy() * 20, y[train].numpy())
    print(f"test accuracy {acc:.3f}  words without the graph {words_only.score(x[test].numpy() * 20, y[test].numpy()):.3f}"
          f"  largest topic {torch.bincount(y[test]).max().item() / len(test):.3f}")


if __name__ == "__main__":
    main()
