"""Trains a small DistilBERT to place letters (parish = trade and dialect), then adapts it to dialects with adapters only."""
import argparse
import logging
import math
import random

import torch
import torch.nn as nn
from torch.utils.data import DataLoader
from transformers import DistilBertConfig, DistilBertForSequenceClassification

log = logging.getLogger("dialect")
TOPICS = {
    "farm": "barn hay cow plough tractor field seed fence".split(),
    "sea": "boat tide net gull harbour sail anchor wave".split(),
    "town": "tram shop square clock market lamp office bridge".split()}
DIALECTS = {
    "north": "aye bairn wee bonny ken lass".split(),
    "west": "gurt lush mind ark babber daps".split(),
    "east": "bor mardle squit dwile loke mawther".split()}
FILLER = "the a of with and near old new two some was is by on".split()
VOCAB = ["[PAD]", "[CLS]", "[SEP]"] + FILLER + sum(TOPICS.values(), []) + sum(DIALECTS.values(), [])
IDS = {w: i for i, w in enumerate(VOCAB)}


def sentence(rng):
    topic, dialect = rng.randrange(3), rng.randrange(3)
    words = [rng.choice(FILLER) for _ in range(rng.randint(4, 9))]
    words += rng.sample(list(TOPICS.values())[topic], 2)
    words += rng.sample(list(DIALECTS.values())[dialect], 1)
    rng.shuffle(words)
    return words, topic, dialect


def corpus(rows, seed, target):
    rng = random.Random(seed)
    out = []
    for _ in range(rows):
        words, topic, dialect = sentence(rng)
        ids = [IDS["[CLS]"]] + [IDS[w] for w in words] + [IDS["[SEP]"]]
        out.append((ids, topic + 3 * dialect if target == "parish" else dialect))
    return out


def collate(batch):
    width = max(len(ids) for ids, _ in batch)
    input_ids = torch.tensor([ids + [0] * (width - len(ids)) for ids, _ in batch])
    mask = torch.tensor([[1] * len(ids) + [0] * (width - len(ids)) for ids, _ in batch])
    return {"input_ids": input_ids, "attention_mask": mask, "labels": torch.tensor([y for _, y in batch])}


def loader(rows, seed, target, shuffle):
    return DataLoader(corpus(rows, seed, target), batch_size=32, shuffle=shuffle, collate_fn=collate)


class LowRank(nn.Module):
    def __init__(self, base, rank=8, alpha=16):
        super().__init__()
        self.base = base
        self.down = nn.Parameter(torch.randn(rank, base.in_features) / math.sqrt(base.in_features))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + (x @ self.down.T @ self.up.T) * self.scale


def add_adapters(model, names, n_labels):
    for p in model.parameters():
        p.requires_grad_(False)
    for layer in model.distilbert.transformer.layer:
        for name in names:
            parent = layer.ffn if name.startswith("lin") else layer.attention
            setattr(parent, name, LowRank(getattr(parent, name)))
    model.classifier = nn.Linear(model.config.dim, n_labels)
    model.num_labels = model.config.num_labels = n_labels
    return model


def evaluate(model, data):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for batch in data:
            labels = batch.pop("labels")
            right += (model(**batch).logits.argmax(-1) == labels).sum().item()
            total += len(labels)
    return right / total


def fit(model, train, val, epochs, lr):
    params = [p for p in model.parameters() if p.requires_grad]
    log.info("%d of %d weights learn", sum(p.numel() for p in params), sum(p.numel() for p in model.parameters()))
    optimizer = torch.optim.AdamW(params, lr=lr)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for batch in train:
            loss = model(**batch).loss
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(params, 1.0)
            optimizer.step()
            total += loss.item()
        log.info("  epoch %d loss %.3f val acc %.3f", epoch + 1, total / len(train), evaluate(model, val))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source-epochs", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=6)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.manual_seed(60)
    config = DistilBertConfig(vocab_size=len(VOCAB), dim=64, n_heads=4, n_layers=2, hidden_dim=128,
                              max_position_embeddings=32, num_labels=len(TOPICS) * len(DIALECTS), pad_token_id=0)
    model = DistilBertForSequenceClassification(config)
    log.info("parishes")
    fit(model, loader(1600, 1, "parish", True), loader(300, 2, "parish", False), args.source_epochs, 2e-3)
    log.info("dialects")
    add_adapters(model, ["q_lin", "v_lin", "lin1", "lin2"], len(DIALECTS))
    fit(model, loader(1200, 3, "dialect", True), loader(300, 4, "dialect", False), args.epochs, 3e-3)


if __name__ == "__main__":
    main()
