"""Character model on a made-up language, state carried from one chunk to the next."""
import math
import random

import torch
from torch import nn

torch.manual_seed(5)
random.seed(5)

ROWS, CHUNK, CLIP = 20, 35, 0.25


def make_text(sentences):
    noun = ["otter", "miller", "lamp", "river", "baker", "stone", "window"]
    verb = {"one": ["sees", "finds", "paints"], "many": ["see", "find", "paint"]}
    out = []
    for _ in range(sentences):
        number = random.choice(["one", "many"])
        a, b = random.choice(noun), random.choice(noun)
        first = f"the {a}" if number == "one" else f"{random.choice(['two', 'three'])} {a}s"
        out.append(f"{first} {random.choice(verb[number])} the {random.choice(['old', 'red', 'small'])} {b}.")
    return " ".join(out)


text = make_text(2600)
chars = sorted(set(text))
ids = torch.tensor([chars.index(c) for c in text])
cut = int(0.9 * len(ids))


def rows(stream):
    n = len(stream) // ROWS
    return stream[: n * ROWS].view(ROWS, n).t().contiguous()


train, valid = rows(ids[:cut]), rows(ids[cut:])


class CharModel(nn.Module):
    def __init__(self, vocab, hidden=96):
        super().__init__()
        self.embed = nn.Embedding(vocab, 32)
        self.rnn = nn.LSTM(32, hidden)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, x, state):
        y, state = self.rnn(self.embed(x), state)
        return self.out(y), state

    def start(self):
        zeros = torch.zeros(1, ROWS, self.rnn.hidden_size)
        return zeros, zeros.clone()


def chunks(data):
    for i in range(0, len(data) - 1, CHUNK):
        n = min(CHUNK, len(data) - 1 - i)
        yield data[i:i + n], data[i + 1:i + 1 + n]


@torch.no_grad()
def bits(model, data):
    model.eval()
    state, total, count = model.start(), 0.0, 0
    for x, y in chunks(data):
        logits, state = model(x, state)
        total += loss_fn(logits.flatten(0, 1), y.flatten()).item() * y.numel()
        count += y.numel()
    return total / count / math.log(2)


model = CharModel(len(chars))
loss_fn = nn.CrossEntropyLoss()
lr, best = 20.0, float("inf")

freq = torch.bincount(ids[:cut], minlength=len(chars)).float()
freq = freq / freq.sum()
print(f"{len(text)} characters; unigram {-(freq[train.flatten()].log2().mean()).item():.2f} bits")

for epoch in range(1, 7):
    model.train()
    state = model.start()
    for x, y in chunks(train):
        state = tuple(s.detach() for s in state)
        model.zero_grad()
        logits, state = model(x, state)
        loss_fn(logits.flatten(0, 1), y.flatten()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        with torch.no_grad():
            for p in model.parameters():
                p.add_(p.grad, alpha=-lr)
    score = bits(model, valid)
    print(f"epoch {epoch}  lr {lr:5.2f}  valid {score:.3f} bits per character")
    if score < best:
        best = score
    else:
        lr /= 4
