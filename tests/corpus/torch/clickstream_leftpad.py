"""Will this shop visit end in a purchase? LSTM over page ids; batches are padded on the left."""
import random

import torch
from torch import nn
from torch.utils.data import DataLoader

PAGES = ["<pad>", "home", "search", "list", "item", "review", "cart", "ship_info", "pay_info", "help", "account", "blog"]
IX = {p: i for i, p in enumerate(PAGES)}
rnd = random.Random(17)
torch.manual_seed(17)


def visit():
    """Random walk; buyers tend to look at reviews after items and come back to the cart near the end."""
    buyer = rnd.random() < 0.25
    pages, cur = ["home"], "home"
    for _ in range(min(60, 3 + int(rnd.expovariate(1 / 12)))):
        nxt = {
            "home": ["search", "list", "blog", "account"], "search": ["list", "item"], "list": ["item", "search"],
            "item": ["review", "list", "cart", "search"], "review": ["item", "list"], "cart": ["ship_info", "item", "list"],
            "ship_info": ["pay_info", "cart", "help"], "pay_info": ["cart", "help", "ship_info"],
            "help": ["home", "cart"], "account": ["home", "cart"], "blog": ["home", "list"],
        }[cur]
        w = [1.0] * len(nxt)
        if buyer and cur == "item":
            w = [2.5, 0.6, 2.0, 0.4]
        cur = rnd.choices(nxt, w)[0]
        pages.append(cur)
    if buyer and rnd.random() < 0.8:
        pages += ["cart", "ship_info", "pay_info"]
    elif rnd.random() < 0.12:
        pages += ["cart", "ship_info"]
    return [IX[p] for p in pages], float(buyer)


def collate(rows):
    seqs, ys = zip(*rows)
    width = max(map(len, seqs))
    ids = torch.tensor([[0] * (width - len(s)) + s for s in seqs])
    return ids, torch.tensor(ys)


class VisitLSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(PAGES), 12, padding_idx=0)
        self.lstm = nn.LSTM(12, 32, batch_first=True)
        self.out = nn.Linear(32, 1)

    def forward(self, ids):
        h, _ = self.lstm(self.emb(ids))
        return self.out(h[:, -1]).squeeze(-1)


def auc(scores, y):
    order = scores.argsort()
    rank = torch.empty(len(y))
    rank[order] = torch.arange(1, len(y) + 1, dtype=torch.float)
    pos, neg = y.sum(), len(y) - y.sum()
    return ((rank[y == 1].sum() - pos * (pos + 1) / 2) / (pos * neg)).item()


data = [visit() for _ in range(3600)]
train, test = data[:2800], data[2800:]
loader = DataLoader(train, batch_size=40, shuffle=True, collate_fn=collate)
net = VisitLSTM()
pos_weight = torch.tensor(sum(1 - y for _, y in train) / sum(y for _, y in train))
loss_fn = nn.BCEWithLogitsLoss(pos_weight=pos_weight)
opt = torch.optim.RMSprop(net.parameters(), lr=3e-3)

for epoch in range(7):
    net.train()
    tot = 0.0
    for ids, y in loader:
        loss = loss_fn(net(ids), y)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        tot += loss.item() * len(y)
    net.eval()
    with torch.no_grad():
        ids, y = collate(test)
        s = net(ids)
    print(f"epoch {epoch}  weighted bce {tot / len(train):.4f}  test auc {auc(s, y):.4f}")

length = torch.tensor([float(len(p)) for p, _ in test])
print(f"final test AUC {auc(s, y):.4f}   visit length alone {auc(length, y):.4f}")
