"""Match product photos (feature vectors) with their captions: two encoders, one temperature, in-batch negatives."""
import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB, TOPICS = 120, 24


def catalogue(n, seed):
    world = torch.Generator().manual_seed(77)
    look = torch.randn(TOPICS, 32, generator=world)
    g = torch.Generator().manual_seed(seed)
    parts = torch.stack([torch.randperm(TOPICS, generator=g)[:3] for _ in range(n)])
    photo = look[parts].sum(1) + 0.5 * torch.randn(n, 32, generator=g)
    words = parts.repeat(1, 2) * 5 + torch.randint(0, 5, (n, 6), generator=g)
    return photo, words


class TwoEncoders(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.photo = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, dim))
        self.words = nn.EmbeddingBag(VOCAB, 64, mode="mean")
        self.text = nn.Sequential(nn.LayerNorm(64), nn.Linear(64, dim))
        self.log_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    def forward(self, photo, words):
        a = F.normalize(self.photo(photo), dim=-1)
        b = F.normalize(self.text(self.words(words)), dim=-1)
        return self.log_scale.exp().clamp(max=100) * a @ b.T


def both_ways(scores):
    target = torch.arange(len(scores))
    return (F.cross_entropy(scores, target) + F.cross_entropy(scores.T, target)) / 2


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=15)
    p.add_argument("--batch", type=int, default=100)
    args = p.parse_args()
    torch.manual_seed(4)
    photo, words = catalogue(3000, 1)
    test_photo, test_words = catalogue(200, 2)
    model = TwoEncoders()
    opt = torch.optim.AdamW([
        {"params": [p for n, p in model.named_parameters() if n != "log_scale"], "weight_decay": 0.01},
        {"params": [model.log_scale], "weight_decay": 0.0, "lr": 1e-2},
    ], lr=2e-3)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        batches = torch.randperm(len(photo)).split(args.batch)
        for rows in batches:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                scores = model(photo[rows], words[rows])
            loss = both_ways(scores.float())
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            s = model(test_photo, test_words)
            top1 = (s.argmax(1) == torch.arange(200)).float().mean()
        print(f"{epoch:2d} loss {total / len(batches):.3f} scale {model.log_scale.exp():.1f} recall@1 of 200: {top1:.3f}")


if __name__ == "__main__":
    main()
