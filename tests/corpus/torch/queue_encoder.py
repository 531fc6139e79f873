"""SimCSE-like self-supervision with a momentum encoder, then a linear probe on noisy labels."""
import copy
import math
import random

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression
from torch import nn
from transformers import RobertaConfig, RobertaModel

SEED, PAD, V = 13, 1, 120
THEMES = 6


class Texts:
    """Sentences of a theme; a theme owns 15 words, 24 words belong to all."""

    def __init__(self, n, seed):
        r = random.Random(seed)
        self.rows, self.theme = [], []
        for _ in range(n):
            t = r.randrange(THEMES)
            own = range(5 + 15 * t, 20 + 15 * t)
            self.rows.append([0] + [r.choice(own) if r.random() < 0.5 else r.randrange(95, 119)
                                    for _ in range(r.randint(10, 18))] + [2])
            self.theme.append(t)
        self.theme = np.array(self.theme)

    def pad(self, picks, drop=0.0):
        rows = []
        for i in picks:
            kept = [w for w in self.rows[i] if w in (0, 2) or random.random() >= drop]
            rows.append(torch.tensor(kept))
        return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD)


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.lm = RobertaModel(RobertaConfig(
            vocab_size=V, hidden_size=48, num_hidden_layers=1, num_attention_heads=4, intermediate_size=96,
            max_position_embeddings=32, pad_token_id=PAD), add_pooling_layer=False)
        self.proj = nn.Sequential(nn.Linear(48, 64), nn.GELU(), nn.Linear(64, 32))

    def embed(self, ids):
        m = ids.ne(PAD)
        h = self.lm(ids, attention_mask=m.long()).last_hidden_state
        return (h * m.unsqueeze(-1)).sum(1) / m.sum(1, keepdim=True)

    def forward(self, ids):
        return F.normalize(self.proj(self.embed(ids)), dim=-1)


@torch.no_grad()
def follow(slow, fast, rate):
    for a, b in zip(slow.parameters(), fast.parameters()):
        a.lerp_(b, 1 - rate)


def pretrain(texts, epochs=6, batch=64, temperature=0.1):
    net = Tower()
    slow = copy.deepcopy(net).requires_grad_(False)
    queue = F.normalize(torch.randn(512, 32), dim=-1)
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-2)
    print(f"loss of a blind guess: {math.log(1 + len(queue)):.3f}")
    for epoch in range(epochs):
        net.train()
        order, losses = random.sample(range(len(texts.rows)), len(texts.rows)), []
        for k in range(0, len(order) - batch + 1, batch):
            picks = order[k:k + batch]
            q = net(texts.pad(picks, drop=0.4))
            with torch.no_grad():
                key = slow(texts.pad(picks, drop=0.4))
            logits = torch.cat([(q * key).sum(-1, keepdim=True), q @ queue.T], 1) / temperature
            loss = F.cross_entropy(logits, torch.zeros(len(picks), dtype=torch.long))
            opt.zero_grad()
            loss.backward()
            opt.step()
            follow(slow, net, 0.98)
            queue = torch.cat([key, queue])[:512]
            losses.append(loss.item())
        print(f"epoch {epoch}: contrastive loss {np.mean(losses):.3f}")
    return net


@torch.no_grad()
def features(net, texts):
    net.eval()
    return net.embed(texts.pad(range(len(texts.rows)))).numpy()


def probe(net, train, test, noise, rng):
    given = train.theme.copy()
    wrong = rng.random(len(given)) < noise
    given[wrong] = rng.integers(0, THEMES, wrong.sum())
    clf = LogisticRegression(max_iter=500).fit(features(net, train), given)
    x = features(net, test)
    return clf.score(features(net, train), given), clf.score(x, test.theme)


if __name__ == "__main__":
    random.seed(SEED); torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    train, test = Texts(2500, 1), Texts(500, 2)
    net = pretrain(train)
    for noise in (0.0, 0.4):
        a, b = probe(net, train, test, noise, rng)
        print(f"label noise {noise}: fits {a:.3f} of the given labels, true accuracy on new texts {b:.3f}")
