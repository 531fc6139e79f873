import random
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader
from transformers import AutoModel, BertConfig, get_linear_schedule_with_warmup

PRICES = {"soup": 4.5, "salad": 6.0, "pasta": 9.5, "pizza": 11.0, "steak": 19.0, "cake": 5.0, "tea": 2.5, "wine": 7.0}
SIZES = {"small": 0.7, "regular": 1.0, "large": 1.4}
NUMBERS = {"one": 1, "two": 2, "three": 3}
EXTRAS = {"to go": 0.0, "with delivery": 4.0, "for our table": 0.0, "express": 6.0}


@dataclass
class Config:
    hidden: int = 64
    layers: int = 2
    batch_size: int = 32
    epochs: int = 8
    body_lr: float = 1e-3
    head_lr: float = 3e-3
    patience: int = 4


def order(rng):
    words, bill = [], 0.0
    for _ in range(rng.randint(1, 4)):
        n, s, d = rng.choice(list(NUMBERS)), rng.choice(list(SIZES)), rng.choice(list(PRICES))
        words += [n, s, d, "and"]
        bill += NUMBERS[n] * SIZES[s] * PRICES[d]
    extra = rng.choice(list(EXTRAS))
    return ["[cls]"] + words[:-1] + extra.split(), bill + EXTRAS[extra]


class BillModel(nn.Module):
    def __init__(self, cfg, n_words):
        super().__init__()
        self.bert = AutoModel.from_config(BertConfig(
            vocab_size=n_words, hidden_size=cfg.hidden, num_hidden_layers=cfg.layers, num_attention_heads=4,
            intermediate_size=2 * cfg.hidden, max_position_embeddings=32, hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0), add_pooling_layer=False)
        self.head = nn.Sequential(nn.Linear(cfg.hidden, cfg.hidden), nn.GELU(), nn.Linear(cfg.hidden, 1))

    def forward(self, ids, mask):
        h = self.bert(input_ids=ids, attention_mask=mask).last_hidden_state
        m = mask.unsqueeze(-1)
        return self.head((h * m).sum(1) / 8)


def log_cosh(pred, target):
    d = pred - target
    return (d + nn.functional.softplus(-2 * d) - 0.6931).mean()


def make_collate(vocab, center, scale):
    def collate(rows):
        n = max(len(w) for w, _ in rows)
        ids = torch.zeros(len(rows), n, dtype=torch.long)
        for i, (w, _) in enumerate(rows):
            ids[i, :len(w)] = torch.tensor([vocab[x] for x in w])
        bills = torch.tensor([b for _, b in rows])
        return ids, (ids > 0).long(), (bills - center) / scale
    return collate


@torch.no_grad()
def r_squared(model, loader):
    model.eval()
    pred, gold = [], []
    for ids, mask, y in loader:
        pred += model(ids, mask).flatten().tolist()
        gold += y.tolist()
    pred, gold = torch.tensor(pred), torch.tensor(gold)
    return 1 - ((pred - gold) ** 2).sum().item() / ((gold - gold.mean()) ** 2).sum().item()


def run(cfg=Config()):
    torch.manual_seed(1)
    rng = random.Random(1)
    train, valid = [order(rng) for _ in range(1600)], [order(rng) for _ in range(300)]
    vocab = {w: i + 1 for i, w in enumerate(sorted({w for ws, _ in train for w in ws}))}
    bills = torch.tensor([b for _, b in train])
    collate = make_collate(vocab, bills.mean(), bills.std())
    train_loader = DataLoader(train, cfg.batch_size, shuffle=True, collate_fn=collate)
    valid_loader = DataLoader(valid, 100, collate_fn=collate)
    model = BillModel(cfg, len(vocab) + 1)
    optimizer = torch.optim.AdamW([{"params": model.bert.parameters(), "lr": cfg.body_lr},
                                   {"params": model.head.parameters(), "lr": cfg.head_lr}], weight_decay=0.01)
    steps = cfg.epochs * len(train_loader)
    scheduler = get_linear_schedule_with_warmup(optimizer, steps // 10, steps)
    best, stale = -1.0, 0
    for epoch in range(cfg.epochs):
        model.train()
        total = 0.0
        for ids, mask, y in train_loader:
            optimizer.zero_grad()
            loss = log_cosh(model(ids, mask), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            total += loss.item()
        r2 = r_squared(model, valid_loader)
        print(f"epoch {epoch} loss {total / len(train_loader):.4f} r2 {r2:.3f}")
        best, stale = (r2, 0) if r2 > best else (best, stale + 1)
        if stale >= cfg.patience:
            break
    print("best r2", round(best, 3))


run()
