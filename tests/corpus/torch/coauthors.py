import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


def build_graph(nodes=600, groups=4, features=80, seed=2):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(groups, (nodes,), generator=g)
    same = y[:, None] == y[None, :]
    prob = torch.where(same, 0.030, 0.005)
    upper = torch.triu((torch.rand(nodes, nodes, generator=g) < prob).float(), diagonal=1)
    adj = upper + upper.T + torch.eye(nodes)
    d = adj.sum(1).rsqrt()
    adj = d[:, None] * adj * d[None, :]
    topic = (torch.rand(groups, features, generator=g) < 0.25).float()
    x = (torch.rand(nodes, features, generator=g) < 0.05 + 0.14 * topic[y]).float()
    x = x / x.sum(1, keepdim=True).clamp(min=1)
    order = torch.randperm(nodes, generator=g)
    return x, adj, y, order[:160], order[160:280], order[280:]


class GraphConv(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.lin = nn.Linear(cin, cout, bias=False)
        self.bias = nn.Parameter(torch.zeros(cout))

    def forward(self, x, adj):
        return adj @ self.lin(x) + self.bias


class GCN(nn.Module):
    def __init__(self, cin, hidden, cout, dropout):
        super().__init__()
        self.conv1 = GraphConv(cin, hidden)
        self.conv2 = GraphConv(hidden, cout)
        self.dropout = dropout

    def forward(self, x, adj):
        h = F.relu(self.conv1(x, adj))
        h = F.dropout(h, p=self.dropout)
        return self.conv2(h, adj)


def accuracy(logits, y, idx):
    return (logits[idx].argmax(1) == y[idx]).float().mean().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--hidden", type=int, default=16)
    p.add_argument("--dropout", type=float, default=0.8)
    p.add_argument("--lr", type=float, default=0.01)
    p.add_argument("--epochs", type=int, default=200)
    args = p.parse_args()

    torch.manual_seed(4)
    x, adj, y, train_idx, val_idx, test_idx = build_graph()
    model = GCN(x.size(1), args.hidden, int(y.max()) + 1, args.dropout)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=5e-4)
    best_val, best_test = 0.0, 0.0
    for epoch in range(1, args.epochs + 1):
        model.train()
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x, adj)[train_idx], y[train_idx])
        loss.backward()
        optimizer.step()

        model.eval()
        with torch.no_grad():
            logits = model(x, adj)
        val, test = accuracy(logits, y, val_idx), accuracy(logits, y, test_idx)
        if val > best_val:
            best_val, best_test = val, test
        if epoch % 20 == 0:
            print(f"epoch {epoch:3d} loss {loss.item():.3f} val {val:.3f} test {test:.3f}")
    print(f"best val {best_val:.3f}, test at that epoch {best_test:.3f}")


if __name__ == "__main__":
    main()
