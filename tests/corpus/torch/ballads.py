# word-level model of generated ballad lines; the recipe of the old word_language_model example
import math
import random

import torch
import torch.nn as nn

random.seed(1)
torch.manual_seed(1)

who = {"the maiden": "she", "the sailor": "he", "the miller": "he", "the widow": "she", "the fiddler": "he"}
verbs = ["walked", "sang", "waited", "wandered", "wept"]
places = ["by the river", "on the hill", "at the mill", "near the harbour", "in the glen"]
times = ["till morning", "at evening", "in winter", "all summer"]
ends = {"by the river": "where the water ran", "on the hill": "where the wind blew", "at the mill": "where the wheel turned",
        "near the harbour": "where the ships lay", "in the glen": "where the heather grew"}


def line():
    name, place = random.choice(list(who)), random.choice(places)
    return (f"{name} {random.choice(verbs)} {place} {random.choice(times)} and {who[name]} "
            f"{random.choice(verbs)} {ends[place]} <eos>")


words = " ".join(line() for _ in range(2400)).split()
vocab = {w: i for i, w in enumerate(sorted(set(words)))}
ids = torch.tensor([vocab[w] for w in words])
cut = int(0.9 * len(ids))


def batchify(data, bsz):
    n = len(data) // bsz
    return data[:n * bsz].view(bsz, n).t().contiguous()


train_data, val_data = batchify(ids[:cut], 20), batchify(ids[cut:], 10)


class RNNModel(nn.Module):
    def __init__(self, n, d=64):
        super().__init__()
        self.emb, self.rnn, self.dec = nn.Embedding(n, d), nn.LSTM(d, d), nn.Linear(d, n)
        nn.init.uniform_(self.emb.weight, -0.1, 0.1)
        nn.init.uniform_(self.dec.weight, -0.1, 0.1)
        nn.init.zeros_(self.dec.bias)

    def forward(self, x, state):
        h, state = self.rnn(self.emb(x), state)
        return self.dec(h).flatten(0, 1), state


model, criterion = RNNModel(len(vocab)), nn.CrossEntropyLoss()
lr, best, bptt = 20.0, float("inf"), 30


def run(data, train):
    model.train(train)
    state, total, count = None, 0.0, 0
    for i in range(0, len(data) - 1, bptt):
        n = min(bptt, len(data) - 1 - i)
        if state is not None:
            state = tuple(s.detach() for s in state)
        with torch.set_grad_enabled(train):
            out, state = model(data[i:i + n], state)
            loss = criterion(out, data[i + 1:i + 1 + n].reshape(-1))
        if train:
            model.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.25)
            for p in model.parameters():
                p.data.add_(p.grad, alpha=-lr)
        total, count = total + loss.item() * n, count + n
    return total / count


for epoch in range(8):
    tr, va = run(train_data, True), run(val_data, False)
    print(f"epoch {epoch + 1} lr {lr:g} train loss {tr:.3f} val ppl {math.exp(va):.2f} (vocabulary {len(vocab)})")
    if va < best:
        best = va
    else:
        lr /= 4.0
