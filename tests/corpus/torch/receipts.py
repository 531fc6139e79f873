"""Joint reader for receipts: extract the item span that a question asks for and regress the amount that was paid.
Shared BERT body, a span head and an amount head, trained with accelerate."""
import random
from types import SimpleNamespace

import numpy as np
import torch
import torch.nn.functional as F
from accelerate import Accelerator
from datasets import Dataset
from torch import nn
from torch.utils.data import DataLoader
from transformers import BertConfig, BertModel, get_linear_schedule_with_warmup
from transformers.utils import logging

logging.set_verbosity_error()

hp = SimpleNamespace(seed=31, n_train=1500, n_test=250, d=64, layers=2, lr=1e-3, epochs=6, batch=32, clip=1.0, lam=0.5)
random.seed(hp.seed)
np.random.seed(hp.seed)
torch.manual_seed(hp.seed)

SHOPS = ["bakery", "grocer", "butcher", "kiosk", "florist"]
ITEMS = {"rye loaf": 420, "cheese": 890, "beef": 1950, "tulips": 1200, "newspaper": 350, "apples": 510,
         "olive oil": 1490, "smoked ham": 1630, "milk": 180, "dark chocolate": 640}
SIZES = {"small": 0.5, "regular": 1.0, "large": 2.0}
ASK = "what was bought at the".split()
PAD, CLS, SEP = 0, 1, 2
vocab = {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2}


def tid(word):
    return vocab.setdefault(word, len(vocab))


def sample():
    shop, size = random.choice(SHOPS), random.choice(list(SIZES))
    item, other = random.sample(list(ITEMS), 2)
    seen = ["we", "saw", random.choice(list(SIZES)), *other.split(), random.choice(["there", "outside"]), "."]
    bought = ["we", "got", size, *item.split(), "and", "paid", random.choice(["cash", "later"]), "."]
    seen_first = random.random() < 0.5
    context = seen + bought if seen_first else bought + seen
    start = (len(seen) if seen_first else 0) + 3
    question = ASK + [shop]
    ids = [CLS] + [tid(w) for w in question] + [SEP] + [tid(w) for w in context] + [SEP]
    offset = len(question) + 2
    return {
        "ids": ids,
        "types": [0] * offset + [1] * (len(ids) - offset),
        "start": start + offset,
        "end": start + len(item.split()) - 1 + offset,
        "cents": ITEMS[item] * SIZES[size],
    }


class Reader(nn.Module):
    def __init__(self, vocab_size):
        super().__init__()
        self.body = BertModel(BertConfig(vocab_size=vocab_size, hidden_size=hp.d, num_hidden_layers=hp.layers,
                                         num_attention_heads=4, intermediate_size=2 * hp.d, max_position_embeddings=64,
                                         hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0),
                              add_pooling_layer=False)
        self.span = nn.Linear(hp.d, 2)
        self.amount = nn.Sequential(nn.Linear(hp.d, hp.d), nn.GELU(), nn.Linear(hp.d, 1))

    def forward(self, ids, mask, types):
        h = self.body(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state
        start, end = self.span(h).masked_fill(mask.unsqueeze(-1) == 0, -1e4).unbind(-1)
        return start, end, self.amount(h[:, 0]).squeeze(-1)


train_rows = Dataset.from_list([sample() for _ in range(hp.n_train)])
test_rows = Dataset.from_list([sample() for _ in range(hp.n_test)])
mean, std = float(np.mean(train_rows["cents"])), float(np.std(train_rows["cents"]))


def collate(rows):
    width = max(len(r["ids"]) for r in rows)
    pad = lambda key: torch.tensor([r[key] + [0] * (width - len(r[key])) for r in rows])
    ids = pad("ids")
    return {
        "ids": ids,
        "mask": (ids != PAD).long(),
        "types": pad("types"),
        "start": torch.tensor([r["start"] for r in rows]),
        "end": torch.tensor([r["end"] for r in rows]),
        "cents": torch.tensor([r["cents"] for r in rows], dtype=torch.float32),
    }


def losses(model, batch):
    start, end, amount = model(batch["ids"], batch["mask"], batch["types"])
    span = 0.5 * (F.cross_entropy(start, batch["start"]) + F.cross_entropy(end, batch["end"]))
    value = F.mse_loss(amount, batch["cents"])
    return span, value


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    exact = seen = 0
    for b in loader:
        start, end, _ = model(b["ids"], b["mask"], b["types"])
        exact += ((start.argmax(-1) == b["start"]) & (end.argmax(-1) == b["end"])).sum().item()
        seen += len(start)
    return exact / seen


def main():
    accelerator = Accelerator(cpu=True)
    model = Reader(len(vocab))
    optimizer = torch.optim.AdamW(model.parameters(), lr=hp.lr)
    train = DataLoader(train_rows, batch_size=hp.batch, shuffle=True, collate_fn=collate)
    test = DataLoader(test_rows, batch_size=50, collate_fn=collate)
    total = hp.epochs * len(train)
    scheduler = get_linear_schedule_with_warmup(optimizer, total // 10, total)
    model, optimizer, train, test, scheduler = accelerator.prepare(model, optimizer, train, test, scheduler)
    for epoch in range(hp.epochs):
        model.train()
        sums = np.zeros(2)
        for batch in train:
            span, value = losses(model, batch)
            accelerator.backward(span + hp.lam * value)
            accelerator.clip_grad_norm_(model.parameters(), hp.clip)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            sums += [span.item(), value.item()]
        sums /= len(train)
        accelerator.print(f"epoch {epoch + 1}: span {sums[0]:.3f} amount {sums[1]:.3f} exact {evaluate(model, test):.3f}")


if __name__ == "__main__":
    main()
