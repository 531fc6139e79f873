"""Route free-text waybills to a desk. Small DistilBERT from scratch, own loop."""
import argparse
import logging
import random

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from torch.utils.data import DataLoader, Dataset
from transformers import (DistilBertConfig, DistilBertForSequenceClassification, PreTrainedTokenizerFast,
                          get_linear_schedule_with_warmup)

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger("waybills")

DESKS = {
    "perishables": ["strawberries", "cheese", "salmon", "tulips", "yoghurt"],
    "machinery": ["gearbox", "turbine", "lathe", "pump", "forklift"],
    "chemicals": ["solvent", "acid", "paint", "fertiliser", "bleach"],
    "household": ["sofa", "lamps", "carpets", "mugs", "mattress"],
}
CARRIER = ["by", "road", "rail", "sea", "air", "express", "slow"]
FILLER = ["please", "handle", "with", "care", "deliver", "before", "noon", "to", "the", "warehouse", "call", "ahead"]
EXTRA_TOKENS = ["<weight>", "<port>"]


def write_waybill(rng):
    desk = rng.randrange(len(DESKS))
    goods = rng.sample(list(DESKS.values())[desk], 2)
    words = rng.sample(FILLER, rng.randint(3, 7)) + goods + ["<weight>", "kg", "<port>"] + rng.sample(CARRIER, 2)
    if rng.random() < 0.15:
        words.append(rng.choice(sum(DESKS.values(), [])))
    rng.shuffle(words)
    return " ".join(words), desk


def build_tokenizer():
    words = sorted(set(sum(DESKS.values(), []) + CARRIER + FILLER + ["kg"]))
    vocab = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + words)}
    raw = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tok = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="[PAD]", unk_token="[UNK]",
                                  cls_token="[CLS]", sep_token="[SEP]")
    tok.add_tokens(EXTRA_TOKENS)
    return tok


class Waybills(Dataset):
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.rows = [write_waybill(rng) for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate_with(tok):
    def collate(rows):
        texts, desks = zip(*rows)
        batch = tok(["[CLS] " + t for t in texts], padding=True, truncation=True, max_length=32, return_tensors="pt")
        batch.pop("token_type_ids", None)
        batch["labels"] = torch.tensor(desks)
        return batch
    return collate


def build_model(tok):
    config = DistilBertConfig(
        vocab_size=tok.vocab_size, dim=48, n_layers=2, n_heads=4, hidden_dim=96,
        max_position_embeddings=32, num_labels=len(DESKS), pad_token_id=tok.pad_token_id,
    )
    return DistilBertForSequenceClassification(config)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    hits = total = 0
    for batch in loader:
        pred = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits.argmax(-1)
        hits += (pred == batch["labels"]).sum().item()
        total += len(pred)
    return hits / total


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--batch-size", type=int, default=32)
    ap.add_argument("--lr", type=float, default=1e-3)
    args = ap.parse_args()
    torch.manual_seed(0)

    tok = build_tokenizer()
    log.info("tokenizer: %d entries", len(tok))
    collate = collate_with(tok)
    train_dl = DataLoader(Waybills(1200, 1), args.batch_size, shuffle=True, collate_fn=collate)
    val_dl = DataLoader(Waybills(300, 2), 64, collate_fn=collate)

    model = build_model(tok)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    steps = args.epochs * len(train_dl)
    schedule = get_linear_schedule_with_warmup(optimizer, steps // 10, steps)

    for epoch in range(args.epochs):
        model.train()
        losses = []
        for batch in train_dl:
            loss = model(**batch).loss
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        log.info("epoch %d loss %.3f val acc %.3f", epoch + 1, sum(losses) / len(losses), evaluate(model, val_dl))


if __name__ == "__main__":
    main()
