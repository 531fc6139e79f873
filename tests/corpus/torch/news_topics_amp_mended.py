"""Bag-of-embeddings topic classifier with mixed precision (works on cpu and gpu)."""
import argparse
import math
import time

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader


def build_corpus(n_docs, vocab, n_topics, seed):
    rng = np.random.default_rng(seed)
    world = np.random.default_rng(123)
    base = world.dirichlet(np.full(vocab, 0.3))
    topics = np.stack([0.75 * base + 0.25 * world.dirichlet(np.full(vocab, 0.02)) for _ in range(n_topics)])
    docs = []
    for _ in range(n_docs):
        k = int(rng.integers(n_topics))
        length = int(rng.integers(20, 60))
        docs.append((rng.choice(vocab, size=length, p=topics[k]), k))
    return docs


def collate(batch):
    lengths = [len(t) for t, _ in batch]
    offsets = torch.tensor([0] + lengths[:-1]).cumsum(0)
    flat = torch.from_numpy(np.concatenate([t for t, _ in batch])).long()
    return flat, offsets, torch.tensor([k for _, k in batch])


class TopicNet(nn.Module):
    def __init__(self, vocab, n_topics, dim=96, hidden=128, p=0.2):
        super().__init__()
        self.bag = nn.EmbeddingBag(vocab, dim, mode="mean")
        self.norm = nn.LayerNorm(dim)
        self.net = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Dropout(p),
                                 nn.Linear(hidden, n_topics))

    def forward(self, flat, offsets):
        return self.net(self.norm(self.bag(flat, offsets)))


class Runner:
    def __init__(self, args):
        self.args = args
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model = TopicNet(args.vocab, args.topics).to(self.device)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=args.lr, momentum=0.9, nesterov=True)
        self.scaler = torch.amp.GradScaler(self.device.type)
        self.criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
        self.train_loader = DataLoader(build_corpus(args.docs, args.vocab, args.topics, 1),
                                       batch_size=args.batch_size, shuffle=True, collate_fn=collate)
        self.val_loader = DataLoader(build_corpus(1200, args.vocab, args.topics, 2),
                                     batch_size=256, collate_fn=collate)
        self.total_steps = args.epochs * len(self.train_loader)
        self.sched = torch.optim.lr_scheduler.LambdaLR(self.opt, self.lr_factor)

    def lr_factor(self, step):
        warm = 0.05 * self.total_steps
        if step < warm:
            return (step + 1) / warm
        t = (step - warm) / max(1, self.total_steps - warm)
        return 0.5 * (1 + math.cos(math.pi * t))

    def train_epoch(self):
        self.model.train()
        total, n = 0.0, 0
        for flat, offsets, y in self.train_loader:
            flat, offsets, y = flat.to(self.device), offsets.to(self.device), y.to(self.device)
            self.opt.zero_grad(set_to_none=True)
            with torch.autocast(self.device.type, dtype=torch.float16):
                logits = self.model(flat, offsets)
                loss = self.criterion(logits.float(), y)
            self.scaler.scale(loss).backward()
            self.scaler.unscale_(self.opt)
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.args.max_norm)
            self.scaler.step(self.opt)
            self.scaler.update()
            self.sched.step()
            total += loss.item() * len(y)
            n += len(y)
        return total / n

    @torch.inference_mode()
    def validate(self):
        self.model.eval()
        hit, n = 0, 0
        for flat, offsets, y in self.val_loader:
            pred = self.model(flat.to(self.device), offsets.to(self.device)).argmax(-1).cpu()
            hit += (pred == y).sum().item()
            n += len(y)
        return hit / n

    def run(self):
        for epoch in range(self.args.epochs):
            t0 = time.time()
            loss = self.train_epoch()
            print(f"epoch {epoch:02d} | loss {loss:.4f} | val acc {self.validate():.4f} "
                  f"| lr {self.sched.get_last_lr()[0]:.2e} | {time.time() - t0:.1f}s")
        print(f"validation accuracy {self.validate():.4f}, chance {1 / self.args.topics:.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--vocab", type=int, default=1500)
    parser.add_argument("--topics", type=int, default=8)
    parser.add_argument("--docs", type=int, default=4000)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--lr", type=float, default=0.3)
    parser.add_argument("--max-norm", type=float, default=1.0)
    args = parser.parse_args()
    torch.manual_seed(0)
    Runner(args).run()
