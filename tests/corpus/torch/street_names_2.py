"""Character model of street names: LSTM with tied embeddings, truncated backprop and plain SGD at a large rate."""
import argparse
import math

import numpy as np
import torch
import torch.nn as nn

ONSET = ["b", "br", "d", "f", "g", "gr", "h", "k", "kl", "l", "m", "n", "p", "r", "s", "st", "t", "v", "w"]
VOWEL = ["a", "e", "i", "o", "u", "ei", "au"]
CODA = ["", "n", "r", "l", "ch", "rt", "ng", "s"]
KINDS = ["strasse", "weg", "gasse", "platz", "allee", "ufer", "steig"]


def corpus(n_names, rng):
    stems = ["".join(rng.choice(ONSET) + rng.choice(VOWEL) + rng.choice(CODA) for _ in range(rng.integers(1, 3)))
             for _ in range(150)]
    weights = 1.0 / np.arange(1, len(stems) + 1) ** 0.8
    weights /= weights.sum()
    names = []
    for _ in range(n_names):
        stem = rng.choice(len(stems), p=weights)
        kind = KINDS[stem % len(KINDS)] if rng.random() < 0.8 else rng.choice(KINDS)
        prefix = "alte " if rng.random() < 0.1 else "an der " if kind == "allee" and rng.random() < 0.5 else ""
        names.append(prefix + stems[stem] + kind)
    return "\n".join(names) + "\n"


class TiedLSTM(nn.Module):
    def __init__(self, n_chars, dim=96, drop=0.1):
        super().__init__()
        self.embed = nn.Embedding(n_chars, dim)
        self.rnn = nn.LSTM(dim, dim, num_layers=1)
        self.drop = nn.Dropout(drop)
        self.out = nn.Linear(dim, n_chars)
        self.out.weight = self.embed.weight
        nn.init.uniform_(self.embed.weight, -0.1, 0.1)
        nn.init.zeros_(self.out.bias)

    def forward(self, tokens, state=None):
        h, state = self.rnn(self.drop(self.embed(tokens)), state)
        return self.out(self.drop(h)), state


def columns(ids, n_cols):
    rows = len(ids) // n_cols
    return ids[: rows * n_cols].view(n_cols, rows).t().contiguous()


@torch.no_grad()
def bits_per_char(model, data, span=50):
    model.eval()
    state, total, count = None, 0.0, 0
    for i in range(0, len(data) - 1, span):
        x, y = data[i:i + span][: len(data) - 1 - i], data[i + 1:i + 1 + span]
        logits, state = model(x, state)
        total += nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="sum").item()
        count += y.numel()
    return total / count / math.log(2)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--lr", type=float, default=8.0)
    ap.add_argument("--clip", type=float, default=0.25)
    ap.add_argument("--span", type=int, default=30)
    ap.add_argument("--epochs", type=int, default=9)
    args = ap.parse_args()
    torch.manual_seed(31)
    text = corpus(14000, np.random.default_rng(31))
    chars = sorted(set(text))
    lookup = {c: i for i, c in enumerate(chars)}
    ids = torch.tensor([lookup[c] for c in text])
    a, b = int(0.8 * len(ids)), int(0.9 * len(ids))
    train, valid, test = columns(ids[:a], 40), columns(ids[a:b], 10), columns(ids[b:], 10)

    freq = torch.bincount(ids[:a], minlength=len(chars)).float() / a
    unigram = -(freq[test.flatten()].log2()).mean().item()

    model = TiedLSTM(len(chars))
    lr, best = args.lr, math.inf
    opt = torch.optim.SGD(model.parameters(), lr=lr)
    for epoch in range(1, args.epochs + 1):
        model.train()
        state, total, steps = None, 0.0, 0
        for i in range(0, len(train) - 1 - args.span, args.span):
            x, y = train[i:i + args.span], train[i + 1:i + 1 + args.span]
            if state is not None:
                state = tuple(s.detach() for s in state)
            logits, state = model(x, state)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), args.clip)
            opt.step()
            total, steps = total + loss.item(), steps + 1
        bpc = bits_per_char(model, valid)
        print(f"epoch {epoch} lr {opt.param_groups[0]['lr']:.2f} train {total / steps / math.log(2):.3f} valid {bpc:.3f} bits/char")
        if bpc > best - 0.01:
            for group in opt.param_groups:
                group["lr"] /= 4
        best = min(best, bpc)
    print(f"test {bits_per_char(model, test):.3f} bits/char   character frequencies alone {unigram:.3f}")


if __name__ == "__main__":
    main()
