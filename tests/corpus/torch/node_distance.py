"""Message passing on random graphs: for each node, how far away is the nearest source node?"""
import torch
import torch.nn as nn
import torch.nn.functional as F


class GraphBatch:
    def __init__(self, adj, feats, target):
        self.adj, self.feats, self.target = adj, feats, target

    @classmethod
    def sample(cls, n_graphs, n_nodes, gen):
        adj = torch.rand(n_graphs, n_nodes, n_nodes, generator=gen) < 1.6 / n_nodes
        adj = adj | adj.transpose(1, 2)
        adj = adj & ~torch.eye(n_nodes, dtype=torch.bool)
        source = torch.rand(n_graphs, n_nodes, generator=gen) < 0.12
        dist = torch.where(source, 0, 4)
        for _ in range(3):
            near = torch.where(adj, dist[:, None, :] + 1, 4).amin(-1)
            dist = torch.minimum(dist, near)
        feats = torch.stack([source.float(), 1 - source.float()], -1)
        return cls(adj.float(), feats, dist)

    def part(self, idx):
        return GraphBatch(self.adj[idx], self.feats[idx], self.target[idx])

    def __len__(self):
        return len(self.adj)


class MessageLayer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.own = nn.Linear(width, width)
        self.nbr = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, h, adj):
        return self.norm(h + F.relu(self.own(h) + adj @ self.nbr(h)))


class DistanceNet(nn.Module):
    def __init__(self, width=8, depth=4, classes=5):
        super().__init__()
        self.inp = nn.Linear(2, width)
        self.layers = [MessageLayer(width) for _ in range(depth)]
        self.out = nn.Linear(width, classes)

    def forward(self, adj, x):
        h = self.inp(x)
        for layer in self.layers:
            h = layer(h, adj)
        return self.out(h)


class Runner:
    def __init__(self, net, lr=3e-3, batch=32):
        self.net, self.batch = net, batch
        self.opt = torch.optim.Adam(net.parameters(), lr=lr)

    def epoch(self, data):
        self.net.train()
        total = 0.0
        for idx in torch.randperm(len(data)).split(self.batch):
            b = data.part(idx)
            logits = self.net(b.adj, b.feats)
            loss = F.cross_entropy(logits.flatten(0, 1), b.target.flatten())
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item() * len(b)
        return total / len(data)

    @torch.no_grad()
    def score(self, data):
        self.net.eval()
        return (self.net(data.adj, data.feats).argmax(-1) == data.target).float().mean().item()


def main():
    torch.manual_seed(2)
    gen = torch.Generator().manual_seed(2)
    train = GraphBatch.sample(1200, 24, gen)
    test = GraphBatch.sample(300, 24, gen)
    counts = train.target.flatten().bincount(minlength=5).float()
    print("class shares", (counts / counts.sum()).tolist())
    run = Runner(DistanceNet())
    for ep in range(1, 16):
        loss = run.epoch(train)
        if ep % 5 == 0 or ep == 1:
            print(f"epoch {ep:2d} loss {loss:.4f} train {run.score(train):.3f} test {run.score(test):.3f}")


if __name__ == "__main__":
    main()
