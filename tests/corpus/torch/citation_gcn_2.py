# Semi-supervised node classification. One graph, full-batch steps, 8 labelled nodes per class.
# Loss only on labelled nodes, features of every node are used (transductive setting),
# strong dropout, Rprop-like rate on purpose, plus a consistency term on the unlabelled nodes.
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)
CLASSES, PER_CLASS, DIM = 5, 160, 60
N = CLASSES * PER_CLASS


def planted_graph():
    label = torch.arange(N) % CLASSES
    same = label[:, None] == label[None, :]
    prob = torch.where(same, torch.tensor(0.022), torch.tensor(0.0028))
    upper = torch.triu(torch.rand(N, N) < prob, diagonal=1)
    adj = (upper | upper.T).float()
    centers = torch.randn(CLASSES, DIM)
    feats = centers[label] * 0.35 + torch.randn(N, DIM)
    return adj, F.normalize(feats, dim=1), label


def propagate_matrix(adj):
    a = adj + torch.eye(len(adj))
    d = a.sum(1).rsqrt()
    return (d[:, None] * a * d[None, :]).to_sparse()


def pick_split(label, per_class=8):
    train = torch.zeros(N, dtype=torch.bool)
    val = torch.zeros(N, dtype=torch.bool)
    for c in range(CLASSES):
        nodes = (label == c).nonzero().squeeze(1)
        nodes = nodes[torch.randperm(len(nodes))]
        train[nodes[:per_class]] = True
        val[nodes[per_class:per_class + 30]] = True
    return train, val, ~(train | val)


class GCN(nn.Module):
    def __init__(self, hidden=32, p=0.6):
        super().__init__()
        self.w1 = nn.Linear(DIM, hidden, bias=False)
        self.w2 = nn.Linear(hidden, CLASSES, bias=False)
        self.p = p

    def forward(self, a_hat, x):
        x = F.dropout(x, self.p, self.training)
        h = F.relu(torch.sparse.mm(a_hat, self.w1(x)))
        h = F.dropout(h, self.p, self.training)
        return torch.sparse.mm(a_hat, self.w2(h))


def sharpen(p, t=0.5):
    p = p ** (1 / t)
    return p / p.sum(1, keepdim=True)


adj, x, y = planted_graph()
a_hat = propagate_matrix(adj)
train_mask, val_mask, test_mask = pick_split(y)
print("edges", int(adj.sum() / 2), "labelled", int(train_mask.sum()), "test", int(test_mask.sum()))

model = GCN()
# weight decay only on the first layer, as in the original recipe
opt = torch.optim.Adam([{"params": model.w1.parameters(), "weight_decay": 5e-4},
                        {"params": model.w2.parameters(), "weight_decay": 0.0}], lr=0.02)


def acc(mask):
    model.eval()
    with torch.no_grad():
        return (model(a_hat, x).argmax(1)[mask] == y[mask]).float().mean().item()


best, best_state, patience = -1.0, None, 0
for step in range(400):
    model.train()
    opt.zero_grad()
    views = [model(a_hat, x) for _ in range(2)]           # two dropout views of the same graph
    sup = sum(F.cross_entropy(v[train_mask], y[train_mask]) for v in views) / 2
    probs = [v.softmax(1) for v in views]
    with torch.no_grad():
        target = sharpen(sum(probs) / 2)
    cons = sum(((p - target) ** 2).sum(1)[~train_mask].mean() for p in probs) / 2
    loss = sup + min(1.0, step / 100) * cons
    loss.backward()
    opt.step()

    val = acc(val_mask)
    if val > best:
        best, best_state, patience = val, copy.deepcopy(model.state_dict()), 0
    else:
        patience += 1
    if step % 25 == 0:
        print(f"step {step:3d} sup {sup.item():.3f} cons {cons.item():.4f} val {val:.3f}")
    if patience >= 80 and step > 120:
        print("stopped at", step)
        break

model.load_state_dict(best_state)

# the same labels without the graph
features_only = nn.Linear(DIM, CLASSES)
o = torch.optim.LBFGS(features_only.parameters(), max_iter=60)


def closure():
    o.zero_grad()
    l = F.cross_entropy(features_only(x[train_mask]), y[train_mask])
    l = l + 1e-3 * features_only.weight.pow(2).sum()
    l.backward()
    return l


o.step(closure)
plain = (features_only(x).argmax(1)[test_mask] == y[test_mask]).float().mean().item()
print(f"test accuracy {acc(test_mask):.3f}   features only {plain:.3f}   chance {1 / CLASSES:.2f}")
