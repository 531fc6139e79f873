# semi-supervised node classification: papers, citations, a handful of labels per topic
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(9)
n, n_topics, n_words = 900, 5, 300
topic = torch.randint(0, n_topics, (n,))
prob = torch.where(topic[:, None] == topic[None, :], 0.022, 0.0016)
upper = torch.triu(torch.rand(n, n) < prob, diagonal=1)
adj = (upper | upper.T).float()
word_prob = 0.01 + 0.03 * (torch.rand(n_topics, n_words) < 0.12)
x = (torch.rand(n, n_words) < word_prob[topic]).float()
x = x / x.sum(1, keepdim=True).clamp(min=1)

a_hat = adj + torch.eye(n)
d = a_hat.sum(1).rsqrt()
a_hat = (d[:, None] * a_hat * d[None, :]).to_sparse_coo()

train_idx = torch.cat([(topic == c).nonzero()[:12, 0] for c in range(n_topics)])
rest = torch.tensor([i for i in torch.randperm(n).tolist() if i not in set(train_idx.tolist())])
val_idx, test_idx = rest[:200], rest[200:]


class GCNLayer(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(d_in, d_out))
        self.bias = nn.Parameter(torch.zeros(d_out))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, h):
        return torch.sparse.mm(a_hat, h @ self.weight) + self.bias


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2 = GCNLayer(n_words, 32), GCNLayer(32, n_topics)

    def forward(self, h):
        h = F.dropout(h, 0.5, self.training)
        h = F.dropout(F.relu(self.l1(h)), 0.5, self.training)
        return F.log_softmax(self.l2(h), dim=1)


model = GCN()
optimizer = torch.optim.Adam([{"params": model.l1.parameters(), "weight_decay": 5e-4},
                              {"params": model.l2.parameters(), "weight_decay": 0.0}], lr=0.01)
best_val, test_at_best = 0.0, 0.0
for epoch in range(1, 301):
    model.train()
    optimizer.zero_grad()
    loss = F.nll_loss(model(x)[train_idx], topic[train_idx])
    loss.backward()
    optimizer.step()

    model.eval()
    with torch.no_grad():
        pred = model(x).argmax(1)
    acc = lambda idx: (pred[idx] == topic[idx]).float().mean().item()
    if acc(val_idx) > best_val:
        best_val, test_at_best = acc(val_idx), acc(test_idx)
    if epoch % 50 == 0:
        print(f"epoch {epoch:3d} loss {loss.item():.3f} train {acc(train_idx):.3f} val {acc(val_idx):.3f} test {acc(test_idx):.3f}")
print(f"best val {best_val:.3f}, test there {test_at_best:.3f}")
