"""Language model on kitchen notes: GRU, tied embeddings, state carried over chunks, bfloat16 autocast,
gradients accumulated over the chunks of one stretch of text, plain SGD with a large rate and clipping."""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(21)
rng = np.random.default_rng(21)

VERBS = ["chop", "fry", "boil", "bake", "stir", "peel", "roast"]
FOODS = ["onions", "carrots", "rice", "beans", "leeks", "eggs", "lentils", "apples"]
TOOLS = {"chop": "knife", "fry": "pan", "boil": "pot", "bake": "tray", "stir": "spoon", "peel": "peeler",
         "roast": "oven"}
NUMS = ["five", "ten", "twenty"]


def note():
    v, f = rng.choice(VERBS), rng.choice(FOODS)
    s = f"{v} the {f} with the {TOOLS[v]} for {rng.choice(NUMS)} minutes"
    if rng.random() < 0.5:
        s += f" then add the {f} to the {rng.choice(FOODS)}"
    return s + " ."


def corpus(n):
    return " ".join(note() for _ in range(n)).split()


train_words, valid_words, test_words = corpus(3000), corpus(250), corpus(400)
vocab = {w: i for i, w in enumerate(sorted(set(train_words)))}
encode = lambda ws: torch.tensor([vocab[w] for w in ws])


def columns(ids, n_cols):
    """Cut a long text into n_cols parallel columns (time, column)."""
    length = len(ids) // n_cols
    return ids[:length * n_cols].view(n_cols, length).t().contiguous()


class TiedGRU(nn.Module):
    def __init__(self, n_words, dim=64):
        super().__init__()
        self.embed = nn.Embedding(n_words, dim)
        nn.init.normal_(self.embed.weight, std=0.1)
        self.rnn = nn.GRU(dim, dim)
        self.bridge = nn.Linear(dim, dim)
        self.out = nn.Linear(dim, n_words)
        self.out.weight = self.embed.weight

    def forward(self, ids, state):
        h, state = self.rnn(self.embed(ids), state)
        return self.out(self.bridge(h)), state


def perplexity(model, data, chunk=30):
    model.eval()
    total, count, state = 0.0, 0, None
    with torch.no_grad():
        for i in range(0, len(data) - 1, chunk):
            x, y = data[i:i + chunk], data[i + 1:i + 1 + chunk]
            x = x[:len(y)]
            logits, state = model(x, state)
            total += F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="sum").item()
            count += y.numel()
    return math.exp(total / count)


def main():
    model = TiedGRU(len(vocab))
    train, valid, test = (columns(encode(w), c) for w, c in ((train_words, 20), (valid_words, 5), (test_words, 5)))
    chunk, accumulate, lr = 20, 2, 4.0
    opt = torch.optim.SGD(model.parameters(), lr=lr)
    uni = torch.bincount(train.flatten(), minlength=len(vocab)).float()
    uni = (uni / uni.sum()).log()
    print(f"unigram test perplexity {math.exp(-uni[test].mean().item()):.2f}   {len(vocab)} words")
    best = float("inf")
    for epoch in range(8):
        model.train()
        state, seen, total, pending = None, 0, 0.0, 0
        opt.zero_grad()
        for i in range(0, len(train) - 1, chunk):
            y = train[i + 1:i + 1 + chunk]
            x = train[i:i + len(y)]
            if state is not None:
                state = state.detach()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits, state = model(x, state)
            loss = F.cross_entropy(logits.float().flatten(0, 1), y.flatten())
            (loss / accumulate).backward()
            pending += 1
            total, seen = total + loss.item() * y.numel(), seen + y.numel()
            if pending == accumulate or i + chunk >= len(train) - 1:
                nn.utils.clip_grad_norm_(model.parameters(), 0.5)
                opt.step()
                opt.zero_grad()
                pending = 0
        ppl = perplexity(model, valid)
        print(f"epoch {epoch}  lr {lr:.3f}  train ppl {math.exp(total / seen):6.2f}  valid ppl {ppl:6.2f}")
        if ppl > best * 0.995:
            lr /= 2
            for group in opt.param_groups:
                group["lr"] = lr
        best = min(best, ppl)
    print(f"test perplexity {perplexity(model, test):.2f}")


if __name__ == "__main__":
    main()
