"""Bi-encoder for a small help desk: find the article that answers a request."""
import math
import random
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset
from transformers import BertConfig, BertModel, get_cosine_schedule_with_warmup


@dataclass
class Config:
    concepts: int = 40
    per_text: int = 4
    train_pairs: int = 2400
    test_pairs: int = 200
    dim: int = 64
    layers: int = 2
    batch_size: int = 48
    epochs: int = 12
    lr: float = 1.5e-3
    warmup: int = 40
    seed: int = 13


class HelpDesk(Dataset):
    """A request and its article speak of the same concepts in different words."""

    def __init__(self, cfg, n, seed):
        rng = random.Random(seed)
        self.items = []
        for _ in range(n):
            ideas = rng.sample(range(cfg.concepts), cfg.per_text)
            request = [1] + [4 + 4 * c + rng.randrange(2) for c in ideas]
            rng.shuffle(ideas)
            article = [1] + [4 + 4 * c + 2 + rng.randrange(2) for c in ideas]
            for text in (request, article):
                for _ in range(rng.randrange(0, 4)):
                    text.insert(rng.randrange(1, len(text) + 1), rng.choice([2, 3]))
            self.items.append((request, article))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def pad(texts):
    width = max(map(len, texts))
    ids = torch.tensor([t + [0] * (width - len(t)) for t in texts])
    return {"input_ids": ids, "attention_mask": (ids != 0).long()}


def collate(rows):
    requests, articles = zip(*rows)
    return pad(requests), pad(articles)


class BiEncoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.bert = BertModel(
            BertConfig(vocab_size=4 + 4 * cfg.concepts, hidden_size=cfg.dim, num_hidden_layers=cfg.layers,
                       num_attention_heads=4, intermediate_size=2 * cfg.dim, max_position_embeddings=24,
                       hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0),
            add_pooling_layer=False)
        self.project = nn.Linear(cfg.dim, 48, bias=False)
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    @torch.no_grad()
    def embed(self, batch):
        hidden = self.bert(**batch).last_hidden_state
        mask = batch["attention_mask"].unsqueeze(-1)
        pooled = (hidden * mask).sum(1) / mask.sum(1)
        return F.normalize(self.project(pooled), dim=-1)

    def forward(self, requests, articles):
        q, d = self.embed(requests), self.embed(articles)
        return self.logit_scale.exp().clamp(max=100) * q @ d.T


class Runner:
    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(cfg.seed)
        self.model = BiEncoder(cfg)
        self.loader = DataLoader(HelpDesk(cfg, cfg.train_pairs, 1), cfg.batch_size, shuffle=True, collate_fn=collate,
                                 drop_last=True)
        self.test = collate(list(HelpDesk(cfg, cfg.test_pairs, 2)))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr, weight_decay=0.01)
        self.scheduler = get_cosine_schedule_with_warmup(self.optimizer, cfg.warmup, cfg.epochs * len(self.loader))

    def step(self, requests, articles):
        logits = self.model(requests, articles)
        target = torch.arange(len(logits))
        loss = (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target)) / 2
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.scheduler.step()
        return loss.item()

    def recall(self, k):
        self.model.eval()
        requests, articles = self.test
        sims = self.model.embed(requests) @ self.model.embed(articles).T
        top = sims.topk(k, dim=1).indices
        return (top == torch.arange(len(sims)).unsqueeze(1)).any(1).float().mean().item()

    def run(self):
        for epoch in range(self.cfg.epochs):
            self.model.train()
            losses = [self.step(q, d) for q, d in self.loader]
            print(f"epoch {epoch:2d} loss {sum(losses) / len(losses):.3f} "
                  f"recall@1 {self.recall(1):.3f} recall@5 {self.recall(5):.3f}")


if __name__ == "__main__":
    Runner(Config()).run()
