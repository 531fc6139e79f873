import argparse

import torch
import torch.nn.functional as F
from torch import nn


def parse():
    p = argparse.ArgumentParser(description="node classification with dense graph attention")
    p.add_argument("--papers", type=int, default=500)
    p.add_argument("--fields", type=int, default=4)
    p.add_argument("--hidden", type=int, default=32)
    p.add_argument("--heads", type=int, default=2)
    p.add_argument("--epochs", type=int, default=80)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--seed", type=int, default=4)
    return p.parse_args()


def citation_graph(n, k, words=40):
    label = torch.randint(0, k, (n,))
    same = label[:, None] == label[None, :]
    prob = torch.where(same, torch.tensor(0.045), torch.tensor(0.004))
    upper = torch.triu((torch.rand(n, n) < prob).float(), diagonal=1)
    adj = upper + upper.T
    quiet = torch.randperm(n)[: n // 50]
    adj[quiet] = 0
    adj[:, quiet] = 0
    centre = torch.randn(k, words) * 0.25
    feats = centre[label] + torch.randn(n, words)
    return feats, adj, label


class DenseAttention(nn.Module):
    def __init__(self, n_in, n_out, heads):
        super().__init__()
        self.heads, self.n_out = heads, n_out
        self.proj = nn.Linear(n_in, heads * n_out, bias=False)
        self.skip = nn.Linear(n_in, heads * n_out)
        self.src = nn.Parameter(torch.randn(heads, n_out) * 0.1)
        self.dst = nn.Parameter(torch.randn(heads, n_out) * 0.1)

    def forward(self, x, adj):
        h = self.proj(x).view(len(x), self.heads, self.n_out)
        a = (h * self.src).sum(-1).T
        b = (h * self.dst).sum(-1).T
        score = F.leaky_relu(a[:, :, None] + b[:, None, :], 0.2)
        score = score.masked_fill(adj == 0, float("-inf"))
        weight = torch.softmax(score, dim=-1)
        mixed = torch.einsum("hij,jhd->ihd", weight, h)
        return mixed.reshape(len(x), -1) + self.skip(x)


class GraphNet(nn.Module):
    def __init__(self, n_in, hidden, heads, k):
        super().__init__()
        self.first = DenseAttention(n_in, hidden, heads)
        self.second = DenseAttention(hidden * heads, hidden, heads)
        self.out = nn.Linear(hidden * heads, k)

    def forward(self, x, adj):
        x = F.dropout(F.elu(self.first(x, adj)), 0.3, self.training)
        return self.out(F.elu(self.second(x, adj)))


def main():
    args = parse()
    torch.manual_seed(args.seed)
    x, adj, y = citation_graph(args.papers, args.fields)
    order = torch.randperm(len(x))
    train, valid = order[:250], order[250:]
    net = GraphNet(x.shape[1], args.hidden, args.heads, args.fields)
    opt = torch.optim.Adam(net.parameters(), lr=args.lr, weight_decay=5e-4)
    for epoch in range(args.epochs):
        net.train()
        opt.zero_grad()
        loss = F.cross_entropy(net(x, adj)[train], y[train])
        loss.backward()
        opt.step()
        if epoch % 20 == 0 or epoch == args.epochs - 1:
            print(f"epoch {epoch:3d}  loss {loss.item():.4f}")
    net.eval()
    with torch.no_grad():
        logits = net(x, adj)
    hit = (logits[valid].argmax(1) == y[valid]).float().mean().item()
    base = torch.bincount(y[valid]).max().item() / len(valid)
    print(f"validation accuracy {hit:.3f}  largest field {base:.3f}")
    print(f"validation loss {F.cross_entropy(logits[valid], y[valid]).item():.4f}")


if __name__ == "__main__":
    main()
