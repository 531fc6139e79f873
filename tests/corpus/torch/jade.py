# character language model, truncated back-propagation through time
import math
import random

import torch
import torch.nn as nn

random.seed(1)
torch.manual_seed(1)

WHO = ["the cat", "a small dog", "my neighbour", "the old king", "every sailor", "nobody"]
DOES = ["watches", "eats", "paints", "forgets", "carries", "sells"]
WHAT = ["the moon", "a red boat", "three apples", "some bread", "her letters", "a long song"]
WHERE = ["at night", "in the garden", "by the sea", "", "on mondays"]


def sentence():
    return " ".join(w for w in (random.choice(WHO), random.choice(DOES), random.choice(WHAT), random.choice(WHERE)) if w) + ".\n"


text = "".join(sentence() for _ in range(2500))
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
ids = torch.tensor([stoi[c] for c in text])
cut = int(0.9 * len(ids))


def batchify(data, bsz):
    n = data.size(0) // bsz
    return data[: n * bsz].view(bsz, -1).t().contiguous()


BPTT = 35
train_data, val_data = batchify(ids[:cut], 20), batchify(ids[cut:], 10)


def get_batch(source, i):
    n = min(BPTT, len(source) - 1 - i)
    return source[i:i + n], source[i + 1:i + 1 + n].reshape(-1)


class RNNModel(nn.Module):
    def __init__(self, ntoken, nhid=96):
        super().__init__()
        self.encoder = nn.Embedding(ntoken, nhid)
        self.rnn = nn.LSTM(nhid, nhid)
        self.decoder = nn.Linear(nhid, ntoken)
        self.decoder.weight = self.encoder.weight
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)

    def forward(self, x, hidden):
        out, hidden = self.rnn(self.encoder(x), hidden)
        return self.decoder(out).flatten(0, 1), hidden


def repackage(h):
    return None if h is None else tuple(v.detach() for v in h)


model = RNNModel(len(chars))
criterion = nn.CrossEntropyLoss()
lr, best_val = 10.0, math.inf


def evaluate(source):
    model.eval()
    total, hidden = 0.0, None
    with torch.no_grad():
        for i in range(0, source.size(0) - 1, BPTT):
            data, targets = get_batch(source, i)
            out, hidden = model(data, hidden)
            total += len(data) * criterion(out, targets).item()
    return total / (len(source) - 1)


for epoch in range(1, 7):
    model.train()
    hidden, total, steps = None, 0.0, 0
    for i in range(0, train_data.size(0) - 1, BPTT):
        data, targets = get_batch(train_data, i)
        hidden = repackage(hidden)
        model.zero_grad()
        out, hidden = model(data, hidden)
        loss = criterion(out, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        with torch.no_grad():
            for p in model.parameters():
                p.add_(p.grad, alpha=-lr)
        total, steps = total + loss.item(), steps + 1
    val = evaluate(val_data)
    print(f"| epoch {epoch} | lr {lr:5.2f} | train {total / steps:.3f} | val {val:.3f} | val ppl {math.exp(val):.2f}")
    if val < best_val:
        best_val = val
    else:
        lr /= 4.0
