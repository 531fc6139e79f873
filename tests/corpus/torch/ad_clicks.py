import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(31)
USERS, ADS, SLOTS, K = 300, 200, 4, 8

true_u, true_a = torch.randn(USERS, 3), torch.randn(ADS, 3)
slot_effect = torch.tensor([0.8, 0.2, -0.3, -0.9])


def impressions(n):
    u, a = torch.randint(0, USERS, (n,)), torch.randint(0, ADS, (n,))
    s, hour = torch.randint(0, SLOTS, (n,)), torch.rand(n)
    logit = 1.3 * (true_u[u] * true_a[a]).sum(1) + slot_effect[s] + 0.8 * torch.sin(6.28 * hour) - 0.5
    return u, a, s, hour, torch.bernoulli(logit.sigmoid())


class ClickModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.users, self.ads, self.slots = nn.Embedding(USERS, K), nn.Embedding(ADS, K), nn.Embedding(SLOTS, K)
        self.mlp = nn.Sequential(nn.Linear(4 * K + 1, 48), nn.ReLU(), nn.Linear(48, 1))
        for table in (self.users, self.ads, self.slots):
            nn.init.normal_(table.weight, std=0.3)

    def forward(self, u, a, s, hour):
        eu, ea = self.users(u), self.ads(a)
        return self.mlp(torch.cat([eu, ea, eu * ea, self.slots(s), hour[:, None]], dim=1)).squeeze(1)


def auc(score, label):
    rank = score.argsort().argsort().double() + 1
    pos = label.sum().double()
    return ((rank[label == 1].sum() - pos * (pos + 1) / 2) / (pos * (len(label) - pos))).item()


train, test = impressions(24000), impressions(5000)
model = ClickModel()
tables = [p for m in model.modules() if isinstance(m, nn.Embedding) for p in m.parameters()]
dense_opt = torch.optim.SGD(model.mlp.parameters(), lr=0.1, momentum=0.9)
table_opt = torch.optim.Adam(tables, lr=1e-2)

for epoch in range(8):
    model.train()
    total = 0.0
    for idx in torch.randperm(len(train[0])).split(200):
        *x, y = (t[idx] for t in train)
        table_opt.zero_grad()
        loss = F.binary_cross_entropy_with_logits(model(*x), y)
        loss.backward()
        dense_opt.step()
        table_opt.step()
        total += loss.item() * len(idx)
    model.eval()
    with torch.no_grad():
        out = model(*test[:4])
    print(f"epoch {epoch + 1} loss {total / len(train[0]):.4f} "
          f"test loss {F.binary_cross_entropy_with_logits(out, test[4]):.4f} auc {auc(out, test[4]):.4f}")
