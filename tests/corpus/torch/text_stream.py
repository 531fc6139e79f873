import argparse
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser(description="character level language model")
parser.add_argument("--hidden", type=int, default=96)
parser.add_argument("--bptt", type=int, default=32)
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--lr", type=float, default=2.0)
parser.add_argument("--clip", type=float, default=0.5)
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--seed", type=int, default=11)
args = parser.parse_args()

random.seed(args.seed)
torch.manual_seed(args.seed)

WHO = ["the old sailor", "my sister", "a tired clerk", "the young king", "our neighbour"]
DID = ["opened", "painted", "forgot", "carried", "sold"]
WHAT = ["the red door", "an empty boat", "three letters", "a silver coin", "the garden gate"]
WHEN = ["at dawn", "before supper", "in the rain", "without a word"]


def sentence():
    return f"{random.choice(WHO)} {random.choice(DID)} {random.choice(WHAT)} {random.choice(WHEN)}. "


text = "".join(sentence() for _ in range(2600))
vocab = sorted(set(text))
stoi = {c: i for i, c in enumerate(vocab)}
ids = torch.tensor([stoi[c] for c in text])


def batchify(seq, bsz):
    n = len(seq) // bsz
    return seq[: n * bsz].view(bsz, n).t().contiguous()


cut = int(len(ids) * 0.9)
train_data, valid_data = batchify(ids[:cut], args.batch), batchify(ids[cut:], args.batch)


class CharModel(nn.Module):
    def __init__(self, n_tokens, hidden):
        super().__init__()
        self.embed = nn.Embedding(n_tokens, 32)
        self.rnn = nn.LSTM(32, hidden)
        self.decoder = nn.Linear(hidden, n_tokens)

    def forward(self, x, state):
        out, state = self.rnn(self.embed(x), state)
        return self.decoder(out), state


def repackage(state):
    return None if state is None else tuple(s.detach() for s in state)


@torch.no_grad()
def evaluate(model):
    model.eval()
    state, total, count = None, 0.0, 0
    for i in range(0, len(valid_data) - 1, args.bptt):
        x = valid_data[i:i + args.bptt][: len(valid_data) - 1 - i]
        y = valid_data[i + 1:i + 1 + len(x)]
        logits, state = model(x, state)
        total += F.cross_entropy(logits.reshape(-1, len(vocab)), y.reshape(-1), reduction="sum").item()
        count += y.numel()
    model.train()
    return total / count


model = CharModel(len(vocab), args.hidden)
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
print(f"{len(text)} characters, {len(vocab)} symbols, uniform loss {math.log(len(vocab)):.3f}")

for epoch in range(args.epochs):
    state = None
    for step, i in enumerate(range(0, len(train_data) - 1, args.bptt)):
        x = train_data[i:i + args.bptt][: len(train_data) - 1 - i]
        y = train_data[i + 1:i + 1 + len(x)]
        state = repackage(state)
        model.zero_grad()
        logits, state = model(x, state)
        loss = F.cross_entropy(logits.reshape(-1, len(vocab)), y.reshape(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        optimizer.step()
        if step % 60 == 0:
            print(f"epoch {epoch} step {step:3d} loss {loss.item():.3f}")
    val = evaluate(model)
    print(f"epoch {epoch} valid loss {val:.3f} perplexity {math.exp(val):.2f}")
