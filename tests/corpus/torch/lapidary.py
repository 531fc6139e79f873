"""Mark the gem names in auction texts: BERT encoder with its own head; only first word pieces carry a label."""
import random
from dataclasses import dataclass

import torch
from torch import nn
from transformers import BertConfig, BertModel

GEMS = ["sapphire", "garnet", "opal", "beryl", "topaz", "spinel"]
CUTS = ["oval", "pear", "cushion", "baguette"]
OTHER = ["a", "fine", "ring", "with", "brooch", "set", "in", "gold", "and", "old", "box", "from", "estate", "silver",
         "garnet-coloured", "opaline", "pair", "of", "clasp", "mounted"]
TAGS = ["O", "B-GEM", "I-GEM"]
PAD, UNK, CLS, SEP, IGNORE = 0, 1, 2, 3, -100


@dataclass
class Settings:
    pieces: int = 3
    hidden: int = 48
    epochs: int = 6
    tokens_per_batch: int = 700
    lr: float = 2e-3
    word_dropout: float = 0.08


def sentence(rng):
    words = [(rng.choice(OTHER), 0) for _ in range(rng.randint(3, 14))]
    for _ in range(rng.randint(0, 2)):
        span = [(rng.choice(CUTS), 1), (rng.choice(GEMS), 2)] if rng.random() < 0.5 else [(rng.choice(GEMS), 1)]
        at = rng.randint(0, len(words))
        while 0 < at < len(words) and words[at][1] == 2:
            at += 1
        words[at:at] = span
    if rng.random() < 0.3:
        words.append((rng.choice(CUTS), 0))
        words.append(("box", 0))
    return words


class Pieces:
    def __init__(self, width):
        self.width = width
        self.index = {}

    def split(self, word):
        return [("" if i == 0 else "##") + word[i:i + self.width] for i in range(0, len(word), self.width)]

    def encode(self, words, grow):
        ids, labels = [CLS], [IGNORE]
        for word, tag in words:
            for k, piece in enumerate(self.split(word)):
                if grow:
                    self.index.setdefault(piece, 4 + len(self.index))
                ids.append(self.index.get(piece, UNK))
                labels.append(tag if k == 0 else IGNORE)
        return ids + [SEP], labels + [IGNORE]


def token_batches(rows, budget, rng=None):
    rows = sorted(rows, key=lambda r: len(r[0]))
    batches, current = [], []
    for row in rows:
        if current and len(row[0]) * (len(current) + 1) > budget:
            batches.append(current)
            current = []
        current.append(row)
    batches.append(current)
    if rng is not None:
        rng.shuffle(batches)
    for batch in batches:
        width = max(len(r[0]) for r in batch)
        ids = torch.tensor([r[0] + [PAD] * (width - len(r[0])) for r in batch])
        labels = torch.tensor([r[1] + [IGNORE] * (width - len(r[1])) for r in batch])
        yield ids, labels


class GemTagger(nn.Module):
    def __init__(self, n_pieces, s):
        super().__init__()
        self.bert = BertModel(BertConfig(
            vocab_size=n_pieces, hidden_size=s.hidden, num_hidden_layers=2, num_attention_heads=4,
            intermediate_size=2 * s.hidden, max_position_embeddings=128, pad_token_id=PAD,
        ), add_pooling_layer=False)
        self.tags = nn.Linear(s.hidden, len(TAGS))

    def forward(self, ids):
        states = self.bert(input_ids=ids, attention_mask=(ids != PAD).float()).last_hidden_state
        return self.tags(states)


def spans(tags):
    found, start = set(), None
    for i, t in enumerate(tags + [0]):
        if start is not None and t != 2:
            found.add((start, i))
            start = None
        if t == 1:
            start = i
    return found


@torch.no_grad()
def span_f1(model, rows, s):
    model.eval()
    tp = n_pred = n_true = 0
    for ids, labels in token_batches(rows, s.tokens_per_batch):
        guess = model(ids).argmax(-1)
        for g, t in zip(guess, labels):
            keep = t != IGNORE
            a, b = spans(g[keep].tolist()), spans(t[keep].tolist())
            tp, n_pred, n_true = tp + len(a & b), n_pred + len(a), n_true + len(b)
    return 2 * tp / max(1, n_pred + n_true)


def main():
    s = Settings()
    rng = random.Random(17)
    torch.manual_seed(17)
    pieces = Pieces(s.pieces)
    train = [pieces.encode(sentence(rng), grow=True) for _ in range(1500)]
    test = [pieces.encode(sentence(rng), grow=False) for _ in range(300)]

    model = GemTagger(4 + len(pieces.index), s)
    optimizer = torch.optim.AdamW(model.parameters(), lr=s.lr, weight_decay=0.01)
    for epoch in range(1, s.epochs + 1):
        model.train()
        total = words = 0
        for ids, labels in token_batches(train, s.tokens_per_batch, rng):
            drop = (torch.rand(ids.shape) < s.word_dropout) & (ids > SEP)
            logits = model(ids.masked_fill(drop, UNK))
            keep = labels != IGNORE
            loss = nn.functional.cross_entropy(logits[keep], labels[keep])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            total += loss.item() * keep.sum().item()
            words += keep.sum().item()
        print(f"epoch {epoch}  loss {total / words:.4f}  span f1 {span_f1(model, test, s):.3f}")


if __name__ == "__main__":
    main()
