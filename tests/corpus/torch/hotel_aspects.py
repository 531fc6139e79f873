"""Aspect sentiment: given an aspect and a short hotel review, is the guest happy with that aspect?

Input row:   <aspect> <sep> w1 w2 ... wn   (the crawler cuts every review to the same number of words)
"""
import math
import os
import random
import time
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

LEXICON = {
    "food": (["tasty", "fresh", "delicious"], ["bland", "stale", "greasy"]),
    "staff": (["friendly", "helpful", "polite"], ["rude", "unhelpful", "absent"]),
    "room": (["spacious", "clean", "bright"], ["cramped", "dirty", "dark"]),
    "price": (["fair", "cheap", "reasonable"], ["steep", "outrageous", "inflated"]),
    "pool": (["warm", "huge", "heated"], ["freezing", "closed", "murky"]),
}
FILLER = "the was and we really found for our trip in july with kids it felt quite after all".split()


@dataclass
class Config:
    n_train: int = 6000
    n_test: int = 1000
    width: int = 16
    d_model: int = 48
    heads: int = 4
    layers: int = 2
    batch: int = 64
    epochs: int = 5
    lr: float = 2e-3


def make_review(rnd, width):
    aspects = rnd.sample(sorted(LEXICON), 3)
    moods = [rnd.random() < 0.5 for _ in aspects]
    words = rnd.choices(FILLER, k=width - 2)
    for place, aspect, happy in zip(rnd.sample(range(len(words)), 3), aspects, moods):
        words[place] = rnd.choice(LEXICON[aspect][0 if happy else 1])
    pick = rnd.randrange(3)
    return [aspects[pick], "<sep>"] + words, int(moods[pick])


def make_vocab():
    words = list(LEXICON) + FILLER + [w for good, bad in LEXICON.values() for w in good + bad]
    return {w: i for i, w in enumerate(["<sep>"] + words)}


def encode(n, seed, vocab, width):
    rnd = random.Random(seed)
    x = torch.zeros(n, width, dtype=torch.long)
    y = torch.zeros(n, dtype=torch.long)
    for i in range(n):
        words, label = make_review(rnd, width)
        x[i] = torch.tensor([vocab[w] for w in words])
        y[i] = label
    return x, y


class PositionalEncoding(nn.Module):
    def __init__(self, d, width):
        super().__init__()
        pos = torch.arange(width).unsqueeze(1)
        div = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
        pe = torch.zeros(width, d)
        pe[:, 0::2], pe[:, 1::2] = torch.sin(pos * div), torch.cos(pos * div)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + 0.3 * self.pe[: x.size(1)]


class AspectClassifier(nn.Module):
    def __init__(self, vocab_size, cfg):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, cfg.d_model)
        self.pos = PositionalEncoding(cfg.d_model, cfg.width)
        layer = nn.TransformerEncoderLayer(cfg.d_model, cfg.heads, dim_feedforward=2 * cfg.d_model,
                                           dropout=0.1)
        self.encoder = nn.TransformerEncoder(layer, cfg.layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(cfg.d_model)
        self.head = nn.Linear(cfg.d_model, 2)

    def forward(self, tokens):
        h = self.encoder(self.pos(self.emb(tokens)))
        return self.head(self.norm(h).mean(dim=1))


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    right = sum((model(x).argmax(-1) == y).sum().item() for x, y in loader)
    return right / len(loader.dataset)


def main(cfg=Config()):
    torch.manual_seed(0)
    vocab = make_vocab()
    train = TensorDataset(*encode(cfg.n_train, 1, vocab, cfg.width))
    test = TensorDataset(*encode(cfg.n_test, 2, vocab, cfg.width))
    train_loader = DataLoader(train, cfg.batch, shuffle=True, drop_last=True)
    test_loader = DataLoader(test, 200)
    share = test.tensors[1].float().mean().item()
    print(f"vocab {len(vocab)}, majority baseline {max(share, 1 - share):.3f}")

    model = AspectClassifier(len(vocab), cfg)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, cfg.lr, epochs=cfg.epochs, steps_per_epoch=len(train_loader))
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(1, cfg.epochs + 1):
        model.train()
        tic, total = time.time(), 0.0
        for x, y in train_loader:
            opt.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            sched.step()
            total += loss.item()
        print(f"[{epoch}] loss {total / len(train_loader):.3f} test acc {accuracy(model, test_loader):.3f} "
              f"({time.time() - tic:.1f}s)")
    os.makedirs("out", exist_ok=True)
    torch.save({"model": model.state_dict(), "vocab": vocab}, "out/aspects.pt")


if __name__ == "__main__":
    main()
