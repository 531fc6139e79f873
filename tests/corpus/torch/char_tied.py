"""Word-order language model, tied input/output embedding, plain SGD in the AWD style."""
import math

import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(1)
rng = np.random.default_rng(1)

VOCAB, BPTT, STREAMS = 40, 20, 20
successors = np.stack([rng.permutation(VOCAB)[:4] for _ in range(VOCAB)])
probs = np.array([0.6, 0.25, 0.1, 0.05])


def corpus(n):
    """Markov text: every token has four successors."""
    picks = rng.choice(4, size=n, p=probs)
    out = np.zeros(n, dtype=np.int64)
    for i in range(1, n):
        out[i] = successors[out[i - 1], picks[i]]
    return torch.from_numpy(out)


def streams(tokens):
    n = len(tokens) // STREAMS
    return tokens[: n * STREAMS].view(STREAMS, n).t().contiguous()   # (time, streams)


class TiedLM(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim)
        self.rnn = nn.LSTM(dim, dim)          # time-major input
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(dim, VOCAB)
        self.out.weight = self.emb.weight
        nn.init.uniform_(self.emb.weight, -0.1, 0.1)
        nn.init.zeros_(self.out.bias)

    def forward(self, x, state=None):
        y, state = self.rnn(self.drop(self.emb(x)), state)
        return self.out(self.drop(y)), state


def windows(data):
    for i in range(0, data.size(0) - 1, BPTT):
        n = min(BPTT, data.size(0) - 1 - i)
        yield data[i:i + n], data[i + 1:i + 1 + n]


@torch.no_grad()
def perplexity(model, data):
    model.eval()
    state, nll, count = None, 0.0, 0
    for x, y in windows(data):
        logits, state = model(x, state)
        nll += nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="sum").item()
        count += y.numel()
    return math.exp(nll / count)


train, test = streams(corpus(40000)), streams(corpus(6000))
model = TiedLM()
lr = 15.0
opt = torch.optim.SGD(model.parameters(), lr=lr)
best = float("inf")
for epoch in range(10):
    model.train()
    state, total, n = None, 0.0, 0
    for x, y in windows(train):
        if state is not None:
            state = tuple(s.detach() for s in state)
        logits, state = model(x, state)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        opt.step()
        total, n = total + loss.item(), n + 1
    if epoch >= 5:
        for g in opt.param_groups:
            g["lr"] /= 2.5
    print(f"epoch {epoch + 1} lr {opt.param_groups[0]['lr']:.2f} train ppl {math.exp(total / n):.2f} "
          f"test ppl {perplexity(model, test):.2f}")

counts = torch.bincount(train.flatten(), minlength=VOCAB).float() + 1
uni = math.exp(-(counts / counts.sum()).log()[test.flatten()].mean().item())
floor = math.exp(-(probs * np.log(probs)).sum())
print(f"test perplexity {perplexity(model, test):.2f}  unigram {uni:.2f}  entropy floor {floor:.2f}")
