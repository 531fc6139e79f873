"""Word level GRU language model on weather reports.

Tied input and output embeddings, stateful truncated backprop, and plain SGD written by hand.
"""
import math
import random
import torch
import torch.nn as nn

SKIES = ["sunny", "cloudy", "foggy", "stormy"]
WINDS = {"sunny": "calm", "cloudy": "breezy", "foggy": "still", "stormy": "wild"}
CITIES = ["paris", "oslo", "cairo", "lima", "delhi"]


def reports(n, rng):
    words = []
    for _ in range(n):
        sky = rng.choice(SKIES)
        words += ["today", "in", rng.choice(CITIES), "it", "is", sky, "and", "the", "air", "is", WINDS[sky], "<eos>"]
    return words


class TiedGRU(nn.Module):
    def __init__(self, n_words, dim=32):
        super().__init__()
        self.emb = nn.Embedding(n_words, dim)
        nn.init.uniform_(self.emb.weight, -0.1, 0.1)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.decode = nn.Linear(dim, n_words)
        self.decode.weight = self.emb.weight

    def forward(self, ids, h=None):
        out, h = self.gru(self.emb(ids), h)
        return self.decode(out), h


def batchify(words, vocab, rows):
    ids = torch.tensor([vocab[w] for w in words])
    return ids[: len(ids) // rows * rows].view(rows, -1)


def perplexity(model, data):
    model.eval()
    with torch.no_grad():
        logits, _ = model(data[:, :-1])
        nll = nn.functional.cross_entropy(logits.flatten(0, 1), data[:, 1:].flatten())
    return math.exp(nll.item())


def train(model, data, valid, epochs=12, bptt=20, lr=10.0):
    best = float("inf")
    for epoch in range(epochs):
        model.train()
        h, total, count = None, 0.0, 0
        for i in range(0, data.size(1) - 1, bptt):
            x = data[:, i:i + bptt][:, : data.size(1) - 1 - i]
            y = data[:, i + 1:i + 1 + bptt]
            if h is not None:
                h = h.detach()
            logits, h = model(x, h)
            # summed over the words in time, averaged over the rows
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="sum") / x.size(0)
            model.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.25)
            with torch.no_grad():
                for p in model.parameters():
                    p -= lr * p.grad
            total += loss.item()
            count += x.size(1)
        ppl = perplexity(model, valid)
        # the usual recipe: cut the rate when the validation gets no better
        if ppl >= best:
            lr /= 4
        best = min(best, ppl)
        print(f"epoch {epoch + 1:2d}  train ppl {math.exp(total / count):6.2f}  valid ppl {ppl:6.2f}  lr {lr}")


if __name__ == "__main__":
    rng = random.Random(10)
    torch.manual_seed(10)
    train_words, valid_words = reports(2000, rng), reports(200, rng)
    vocab = {w: i for i, w in enumerate(sorted(set(train_words)))}
    model = TiedGRU(len(vocab))
    train(model, batchify(train_words, vocab, 20), batchify(valid_words, vocab, 4))
    print("lower bound %.2f" % math.exp(math.log(len(CITIES) * len(SKIES)) / 12))
