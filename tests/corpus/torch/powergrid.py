"""Label the regions of a power grid: graph convolution on the full graph, 30 labelled nodes, mean teacher."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(12)
N, K = 300, 3


def grid():
    g = torch.Generator().manual_seed(12)
    y = torch.arange(N) % K
    p = torch.where(y[:, None] == y[None], 0.06, 0.006)
    upper = torch.triu((torch.rand(N, N, generator=g) < p).float(), 1)
    a = upper + upper.T + torch.eye(N)
    d = a.sum(1).rsqrt()
    x = F.one_hot(y, K).float() @ torch.randn(K, 16, generator=g) * 0.6 + torch.randn(N, 16, generator=g)
    return x, d[:, None] * a * d[None], y


class GCN(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.a = nn.Linear(16, hidden)
        self.b = nn.Linear(hidden, K)

    def forward(self, x, adj):
        h = F.relu(adj @ self.a(x))
        return adj @ self.b(F.dropout(h, 0.5, self.training))


x, adj, y = grid()
labels = torch.full((N,), -100)
known = torch.randperm(N)[:30]
labels[known] = y[known]
hidden_nodes = labels == -100

student = GCN()
teacher = copy.deepcopy(student).requires_grad_(False)
opt = torch.optim.Adam(student.parameters(), lr=1e-2, weight_decay=5e-4)
for step in range(300):
    student.train()
    out = student(x, adj)
    supervised = F.cross_entropy(out, labels, ignore_index=-100)
    with torch.no_grad():
        target = teacher(x, adj).softmax(-1)
    ramp = min(1.0, step / 100)
    consistency = (out.softmax(-1) - target).pow(2).sum(-1).mean()
    loss = supervised + ramp * consistency
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        keep = min(0.99, 1 - 1 / (step + 1))
        for p, q in zip(teacher.parameters(), student.parameters()):
            p.mul_(keep).add_(q, alpha=1 - keep)
    if step % 50 == 49:
        teacher.eval()
        with torch.no_grad():
            acc = (teacher(x, adj).argmax(-1) == y)[hidden_nodes].float().mean()
        teacher.train()
        print(f"step {step + 1} supervised {supervised:.3f} consistency {consistency:.4f} unlabelled acc {acc:.3f}")
