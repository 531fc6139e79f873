"""Route plant alarm logs to one of five maintenance teams with an attention-pooling classifier."""
import random
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class Config:
    n_teams: int = 5
    vocab: int = 400
    max_len: int = 48
    dim: int = 48
    heads: int = 4
    batch: int = 64
    epochs: int = 10
    lr: float = 2e-3
    seed: int = 17


cfg = Config()
random.seed(cfg.seed)
torch.manual_seed(cfg.seed)
PAD = 0


class AlarmLogs(Dataset):
    """Each log is a list of event codes; a few of them are typical for the team in charge."""

    typical = None

    def __init__(self, n):
        if AlarmLogs.typical is None:
            codes = random.sample(range(1, cfg.vocab), 30 * cfg.n_teams)
            AlarmLogs.typical = [codes[i::cfg.n_teams] for i in range(cfg.n_teams)]
            AlarmLogs.common = [c for c in range(1, cfg.vocab) if c not in set(codes)]
        self.rows = [self.make() for _ in range(n)]

    def make(self):
        team = random.randrange(cfg.n_teams)
        other = random.randrange(cfg.n_teams)
        log = random.choices(self.common, k=random.randint(6, 36))
        log += random.choices(self.typical[team], k=random.randint(2, 4))
        log += random.choices(self.typical[other], k=1)
        random.shuffle(log)
        return log, team

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(rows):
    ids = torch.full((len(rows), cfg.max_len), PAD, dtype=torch.long)
    for i, (log, _) in enumerate(rows):
        ids[i, :len(log)] = torch.tensor(log)
    mask = ids != PAD
    return ids, mask, torch.tensor([t for _, t in rows])


class AttentionPool(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.query = nn.Parameter(torch.randn(1, 1, dim) * 0.1)
        self.attn = nn.MultiheadAttention(dim, heads, dropout=0.1, batch_first=True)

    def forward(self, x, mask):
        q = self.query.expand(x.size(0), -1, -1)
        out, _ = self.attn(q, x, x, key_padding_mask=~mask, need_weights=False)
        return out.squeeze(1)


class Router(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(cfg.vocab, cfg.dim)
        self.pos = nn.Parameter(torch.zeros(cfg.max_len, cfg.dim))
        self.norm = nn.LayerNorm(cfg.dim)
        self.pool = AttentionPool(cfg.dim, cfg.heads)
        self.head = nn.Sequential(nn.Dropout(0.2), nn.Linear(cfg.dim, 64), nn.GELU(), nn.Linear(64, cfg.n_teams))

    def forward(self, ids, mask):
        x = self.norm(self.emb(ids) + self.pos)
        return self.head(self.pool(x, mask))


@torch.inference_mode()
def evaluate(model, loader):
    model.eval()
    hits = n = 0
    for ids, mask, y in loader:
        hits += (model(ids, mask).argmax(-1) == y).sum().item()
        n += len(y)
    return hits / n


train_set, test_set = AlarmLogs(4000), AlarmLogs(1000)
train_loader = DataLoader(train_set, cfg.batch, shuffle=True, collate_fn=collate)
test_loader = DataLoader(test_set, 250, collate_fn=collate)

model = Router()
optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=0.01)
scheduler = torch.optim.lr_scheduler.OneCycleLR(
    optimizer, max_lr=cfg.lr, epochs=cfg.epochs, steps_per_epoch=len(train_loader))
loss_fn = nn.CrossEntropyLoss(label_smoothing=0.05)

for epoch in range(cfg.epochs):
    model.train()
    running = 0.0
    for ids, mask, y in train_loader:
        optimizer.zero_grad()
        loss = loss_fn(model(ids, mask), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        running += loss.item()
    print(f"epoch {epoch}: train loss {running / len(train_loader):.4f}  "
          f"held-out accuracy {evaluate(model, test_loader):.3f}")

print(f"final held-out accuracy {evaluate(model, test_loader):.3f} (chance {1 / cfg.n_teams:.2f})")
