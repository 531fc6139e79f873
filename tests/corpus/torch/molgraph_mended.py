import io
import random

import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 3
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)
N_NODES, N_GROUPS = 360, 4


def export_plant():
    group = np.random.randint(0, N_GROUPS, N_NODES)
    same = group[:, None] == group[None, :]
    prob = np.where(same, 0.06, 0.012)
    upper = np.triu(np.random.rand(N_NODES, N_NODES) < prob, 1)
    adj = (upper | upper.T).astype(np.float32)
    centre = np.random.randn(N_GROUPS, 6)
    attrs = centre[group] * 0.8 + np.random.randn(N_NODES, 6)
    lines = ["pressure,flow,temp,load,age,vibration,zone"]
    for row, g in zip(attrs, group):
        cells = [f"{v:.4f}" for v in row]
        if random.random() < 0.03:
            cells[random.randrange(6)] = "?"
        lines.append(",".join(cells + [str(g)]))
    return adj, "\n".join(lines)


def load_nodes(text):
    table = pd.read_csv(io.StringIO(text), na_values="?")
    table = table.fillna(table.mean(numeric_only=True))
    zone = table.pop("zone")
    return table, zone


class GraphEncoder(nn.Module):
    def __init__(self, n_in, width=32):
        super().__init__()
        self.first = nn.Linear(n_in, width)
        self.second = nn.Linear(width, width)

    def forward(self, adj_hat, x):
        h = F.relu(adj_hat @ self.first(x))
        return adj_hat @ self.second(h)


def normalise(adj):
    a = adj + torch.eye(adj.shape[0])
    d = a.sum(1).rsqrt()
    return d[:, None] * a * d[None, :]


def pretrain(encoder, adj, adj_hat, feats, rounds=80):
    opt = torch.optim.Adam(encoder.parameters(), lr=5e-3)
    weight = (adj == 0).sum() / adj.sum()
    for r in range(rounds):
        z = encoder(adj_hat, feats)
        loss = F.binary_cross_entropy_with_logits(z @ z.t() / 5.0, adj, pos_weight=weight)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if r % 20 == 0:
            print(f"[links] {r} loss {loss.item():.4f}")


def finetune(encoder, adj_hat, feats, zone, train_mask, rounds=150):
    head = nn.Linear(32, N_GROUPS)
    opt = torch.optim.Adam([
        {"params": encoder.parameters(), "lr": 2e-3},
        {"params": head.parameters(), "lr": 1e-2},
    ], weight_decay=5e-4)
    for r in range(rounds):
        logits = head(encoder(adj_hat, feats))
        loss = F.cross_entropy(logits[train_mask], zone[train_mask])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if r % 30 == 0:
            print(f"[zones] {r} loss {loss.item():.4f}")
    return head


adj_np, csv_text = export_plant()
table, zone = load_nodes(csv_text)
adj = torch.from_numpy(adj_np)
adj_hat = normalise(adj)
feats = torch.tensor(table.values, dtype=torch.float32)
zone = torch.tensor(zone.values)

encoder = GraphEncoder(feats.shape[1])
pretrain(encoder, adj, adj_hat, feats)
order = torch.randperm(N_NODES)
train_mask = torch.zeros(N_NODES, dtype=torch.bool)
train_mask[order[:200]] = True
head = finetune(encoder, adj_hat, feats, zone, train_mask)
with torch.no_grad():
    pred = head(encoder(adj_hat, feats)).argmax(1)
held = ~train_mask
print(f"held-out zone accuracy {(pred[held] == zone[held]).float().mean():.3f}")
