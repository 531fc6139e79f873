"""Tag wagon announcements token by token; a plain accelerate loop with accumulated, token-weighted gradients."""
import logging
import random
import time
from dataclasses import dataclass

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader
from transformers import DistilBertConfig, DistilBertForTokenClassification, get_cosine_schedule_with_warmup

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("freightyard")

TAGS = ["WAGON", "TRACK", "GOODS", "TIME"]
GOODS = ["coal", "timber", "steel", "gravel", "grain", "cars", "cement"]
PAD = 0


@dataclass
class Config:
    n_train: int = 1200
    n_valid: int = 200
    micro_batch: int = 8
    accumulate: int = 4
    epochs: int = 6
    lr: float = 1.5e-3
    hidden: int = 64
    clip: float = 5.0
    seed: int = 6


def announcement(rng):
    """Words with their tags; everything that is not a slot has no tag and does not count."""
    wagon = [(c, 0) for c in str(rng.randint(100, 999))]
    track = [(rng.choice("abcdefgh"), 1), (str(rng.randint(1, 9)), 1)]
    goods = [(w, 2) for w in rng.sample(GOODS, rng.randint(1, 2))]
    clock = [(str(rng.randint(1, 9)), 3), ("30" if rng.random() < 0.5 else "00", 3)]
    pieces = [[("wagon", None)] + wagon, [("to", None), ("track", None)] + track, [("with", None)] + goods,
              [("at", None)] + clock]
    rng.shuffle(pieces)
    return [pair for piece in pieces for pair in piece]


def build_vocab(rows):
    words = sorted({w for row in rows for w, _ in row})
    return {w: i + 1 for i, w in enumerate(words)}


def make_collate(vocab):
    def collate(rows):
        width = max(map(len, rows))
        ids = torch.full((len(rows), width), PAD)
        labels = torch.full((len(rows), width), -100)
        for r, row in enumerate(rows):
            for c, (word, tag) in enumerate(row):
                ids[r, c] = vocab[word]
                if tag is not None:
                    labels[r, c] = tag
        return {"input_ids": ids, "attention_mask": (ids != PAD).long(), "labels": labels}
    return collate


def windows(loader, size):
    group = []
    for batch in loader:
        group.append(batch)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group


def summed_loss(logits, labels):
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum")


@torch.inference_mode()
def evaluate(model, loader):
    training = model.training
    model.eval()
    hits = total = 0
    loss = 0.0
    for batch in loader:
        labels = batch.pop("labels")
        logits = model(**batch).logits
        kept = labels != -100
        loss += summed_loss(logits, labels).item()
        hits += (logits.argmax(-1)[kept] == labels[kept]).sum().item()
        total += kept.sum().item()
    model.train(training)
    return loss / total, hits / total


def main(cfg=Config()):
    set_seed(cfg.seed)
    rng = random.Random(cfg.seed)
    accelerator = Accelerator(cpu=True)
    rows = [announcement(rng) for _ in range(cfg.n_train + cfg.n_valid)]
    vocab = build_vocab(rows)
    collate = make_collate(vocab)
    train = DataLoader(rows[:cfg.n_train], batch_size=cfg.micro_batch, shuffle=True, collate_fn=collate)
    valid = DataLoader(rows[cfg.n_train:], batch_size=64, collate_fn=collate)

    model = DistilBertForTokenClassification(DistilBertConfig(
        vocab_size=len(vocab) + 1, dim=cfg.hidden, n_layers=2, n_heads=4, hidden_dim=2 * cfg.hidden,
        max_position_embeddings=32, pad_token_id=PAD, num_labels=len(TAGS)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    updates = cfg.epochs * -(-len(train) // cfg.accumulate)
    schedule = get_cosine_schedule_with_warmup(optimizer, updates // 10, updates)
    model, optimizer, train, valid = accelerator.prepare(model, optimizer, train, valid)

    model.train()
    began = time.time()
    for epoch in range(cfg.epochs):
        running = 0.0
        for group in windows(train, cfg.accumulate):
            tokens = sum((batch["labels"] != -100).sum() for batch in group)
            for batch in group:
                labels = batch.pop("labels")
                loss = summed_loss(model(**batch).logits, labels) / tokens
                accelerator.backward(loss)
                running += loss.item()
            accelerator.clip_grad_norm_(model.parameters(), cfg.clip)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        valid_loss, accuracy = evaluate(model, valid)
        log.info("epoch %d  train %.4f  valid %.4f  tag accuracy %.3f  %.1fs", epoch + 1,
                 running * cfg.accumulate / len(train), valid_loss, accuracy, time.time() - began)


if __name__ == "__main__":
    main()
