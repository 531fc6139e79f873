import math

import numpy as np
import torch
import torch.nn as nn


def make_text(n_chars, seed):
    rng = np.random.default_rng(seed)
    words = ["harbour", "signal", "lantern", "quiet", "morning", "boat", "and", "the", "returns", "slowly"]
    follow = rng.dirichlet(np.full(len(words), 0.25), size=len(words))
    state, out = 0, []
    while sum(len(w) + 1 for w in out) < n_chars:
        out.append(words[state])
        state = rng.choice(len(words), p=follow[state])
    return " ".join(out)[:n_chars]


class CharStream:
    """Cuts one long text into parallel streams; chunk i+1 continues chunk i."""

    def __init__(self, ids, streams, chunk):
        per = len(ids) // streams
        self.data = ids[: per * streams].view(streams, per)
        self.chunk = chunk

    def __iter__(self):
        for s in range(0, self.data.size(1) - 1, self.chunk):
            x = self.data[:, s:s + self.chunk]
            y = self.data[:, s + 1:s + 1 + self.chunk]
            yield x[:, : y.size(1)], y


class CharLSTM(nn.Module):
    def __init__(self, vocab, hidden=96):
        super().__init__()
        self.emb = nn.Embedding(vocab, 24)
        self.rnn = nn.LSTM(24, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, x, state=None):
        h, state = self.rnn(self.emb(x), state)
        return self.out(h), state


def carry(state):
    return tuple(s.detach() for s in state)


@torch.no_grad()
def bits_per_char(model, stream):
    model.eval()
    state, total, n = None, 0.0, 0
    for x, y in stream:
        logits, state = model(x, state)
        total += nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="sum").item()
        n += y.numel()
    return total / n / math.log(2)


torch.manual_seed(0)
text = make_text(40000, seed=8)
alphabet = sorted(set(text))
index = {c: i for i, c in enumerate(alphabet)}
ids = torch.tensor([index[c] for c in text])
train, valid = CharStream(ids[:36000], 16, 32), CharStream(ids[36000:], 4, 32)

model = CharLSTM(len(alphabet))
opt = torch.optim.Adam(model.parameters(), lr=4e-3)

for epoch in range(5):
    model.train()
    state = None
    for x, y in train:
        logits, state = model(x, state)
        loss = nn.functional.cross_entropy(logits.transpose(1, 2), y)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        state = carry(state)
    print(f"epoch {epoch}  last loss {loss.item():.3f}  valid bits/char {bits_per_char(model, valid):.3f}")

counts = torch.bincount(ids[:36000]).float()
p = counts / counts.sum()
print(f"valid bits per character {bits_per_char(model, valid):.3f}   "
      f"unigram entropy {-(p * p.log2()).sum().item():.3f}")
