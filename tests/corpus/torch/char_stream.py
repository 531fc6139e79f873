import math
import random

import torch
from torch import nn

random.seed(5)
torch.manual_seed(5)

SUBJECTS = ["the miller", "a sailor", "my neighbour", "the old queen", "a grey cat"]
VERBS = ["watches", "paints", "forgets", "carries", "sells"]
OBJECTS = ["the lantern", "two apples", "a letter", "the wooden boat", "some bread"]
PLACES = ["at dawn", "in the harbour", "by the river", "after dinner"]


def write_story(n_sentences):
    parts = []
    for _ in range(n_sentences):
        parts.append(" ".join(random.choice(p) for p in (SUBJECTS, VERBS, OBJECTS, PLACES)) + ". ")
    return "".join(parts)


class CharModel(nn.Module):
    def __init__(self, n_chars, emb=32, hidden=128):
        super().__init__()
        self.emb = nn.Embedding(n_chars, emb)
        self.gru = nn.GRU(emb, hidden, batch_first=True)
        self.out = nn.Linear(hidden, n_chars)

    def forward(self, ids, state=None):
        h, state = self.gru(self.emb(ids), state)
        return self.out(h), state


def stream(ids, n_rows, window):
    usable = (len(ids) - 1) // n_rows * n_rows
    x = ids[:usable].view(n_rows, -1)
    y = ids[1:usable + 1].view(n_rows, -1)
    for start in range(0, x.size(1) - window + 1, window):
        yield x[:, start:start + window], y[:, start:start + window]


def train_epoch(model, opt, ids, n_rows=16, window=40):
    model.train()
    criterion = nn.CrossEntropyLoss()
    state, losses = None, []
    for x, y in stream(ids, n_rows, window):
        logits, new_state = model(x, state)
        loss = criterion(logits.reshape(-1, logits.size(-1)), y.reshape(-1))
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        state = new_state
        losses.append(loss.item())
    return sum(losses) / len(losses)


@torch.no_grad()
def evaluate(model, ids, n_rows=4, window=40):
    model.eval()
    state, nll, hits, total = None, 0.0, 0, 0
    for x, y in stream(ids, n_rows, window):
        logits, state = model(x, state)
        nll += nn.functional.cross_entropy(
            logits.reshape(-1, logits.size(-1)), y.reshape(-1), reduction="sum").item()
        hits += (logits.argmax(-1) == y).sum().item()
        total += y.numel()
    return nll / total, hits / total


def main():
    train_text, valid_text = write_story(1500), write_story(200)
    chars = sorted(set(train_text + valid_text))
    index = {c: i for i, c in enumerate(chars)}
    train_ids = torch.tensor([index[c] for c in train_text])
    valid_ids = torch.tensor([index[c] for c in valid_text])
    model = CharModel(len(chars))
    opt = torch.optim.AdamW(model.parameters(), lr=4e-3)
    for epoch in range(4):
        tr = train_epoch(model, opt, train_ids)
        nll, acc = evaluate(model, valid_ids)
        print(f"epoch {epoch}  train {tr:.3f}  valid nll {nll:.3f}  next-char acc {acc:.3f}")
    common = train_ids.bincount().max().item() / len(train_ids)
    print(f"final: nll {nll:.3f} (uniform {math.log(len(chars)):.3f})  acc {acc:.3f} (most common char {common:.3f})")


if __name__ == "__main__":
    main()
