"""Word model of village gossip: stateful LSTM, tied weights, plain SGD as in the old word_language_model example."""
import argparse
import math
import random

import torch
import torch.nn as nn

PEOPLE = ["anna", "bert", "clara", "dirk", "edda", "fritz"]
VERBS = {"saw": "near", "met": "behind", "kissed": "inside"}
PLACES = {"near": ["mill", "bridge"], "behind": ["church", "barn"], "inside": ["bakery", "school"]}


def rumour(rng):
    who, whom = rng.sample(PEOPLE, 2)
    verb = rng.choice(list(VERBS))
    prep = VERBS[verb]
    line = [who, verb, whom, prep, "the", rng.choice(PLACES[prep])]
    if rng.random() < 0.5:
        line += ["and", "told", who]
    return line + ["<eos>"]


def tokens(n, seed, index):
    rng = random.Random(seed)
    return torch.tensor([index[w] for _ in range(n) for w in rumour(rng)])


def batchify(stream, batch):
    steps = len(stream) // batch
    return stream[:steps * batch].view(batch, steps).t().contiguous()


def repackage(hidden):
    return tuple(h.detach() for h in hidden)


class WordLM(nn.Module):
    def __init__(self, n_words, dim, layers, dropout):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(n_words, dim)
        self.rnn = nn.LSTM(dim, dim, layers)
        self.decoder = nn.Linear(dim, n_words)
        self.decoder.weight = self.encoder.weight
        self.layers, self.dim = layers, dim
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)

    def forward(self, words, hidden):
        out, hidden = self.rnn(self.drop(self.encoder(words)), hidden)
        return self.decoder(self.drop(out)).flatten(0, 1), hidden

    def init_hidden(self, batch):
        return tuple(torch.zeros(self.layers, batch, self.dim) for _ in range(2))


def windows(source, bptt):
    for i in range(0, len(source) - 1, bptt):
        n = min(bptt, len(source) - 1 - i)
        yield source[i:i + n], source[i + 1:i + 1 + n].flatten()


def train(model, source, criterion, lr, args):
    model.train()
    hidden = model.init_hidden(source.size(1))
    total = count = 0
    for words, targets in windows(source, args.bptt):
        model.zero_grad()
        hidden = repackage(hidden)
        logits, hidden = model(words, hidden)
        loss = criterion(logits, targets)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        with torch.no_grad():
            for p in model.parameters():
                p.add_(p.grad, alpha=-lr)
        total += loss.item() * len(targets)
        count += len(targets)
    return total / count


@torch.no_grad()
def evaluate(model, source, criterion, args):
    model.eval()
    hidden = model.init_hidden(source.size(1))
    total = count = 0
    for words, targets in windows(source, args.bptt):
        logits, hidden = model(words, hidden)
        total += criterion(logits, targets).item() * len(targets)
        count += len(targets)
    return total / count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=20.0)
    parser.add_argument("--clip", type=float, default=0.25)
    parser.add_argument("--bptt", type=int, default=20)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--dim", type=int, default=64)
    args = parser.parse_args()
    torch.manual_seed(1111)

    words = sorted({*PEOPLE, *VERBS, *PLACES, *sum(PLACES.values(), []), "the", "and", "told", "<eos>"})
    index = {w: i for i, w in enumerate(words)}
    train_data = batchify(tokens(4000, 1, index), 20)
    val_data = batchify(tokens(500, 2, index), 10)

    model = WordLM(len(words), args.dim, layers=1, dropout=0.1)
    criterion = nn.CrossEntropyLoss()
    lr, best = args.lr, None
    for epoch in range(1, args.epochs + 1):
        loss = train(model, train_data, criterion, lr, args)
        val = evaluate(model, val_data, criterion, args)
        print(f"| epoch {epoch} | lr {lr:5.2f} | train ppl {math.exp(loss):6.2f} | valid ppl {math.exp(val):6.2f}")
        if best is None or val < best:
            best = val
        else:
            lr /= 4.0


if __name__ == "__main__":
    main()
