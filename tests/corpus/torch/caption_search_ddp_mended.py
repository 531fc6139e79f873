"""Two-tower text/item retrieval with in-batch negatives, data parallel on CPU (gloo).

Items are attribute vectors, captions are noisy bags of words about them. Each caption
should retrieve its own item among the held-out ones.
"""
import argparse
import os

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

VOCAB, WORDS, ATTR, LATENT = 400, 14, 48, 10


class Captions(Dataset):
    def __init__(self, n, seed):
        world = np.random.default_rng(0)
        word_dirs = world.normal(size=(VOCAB, LATENT))
        attr_map = world.normal(size=(LATENT, ATTR)) / np.sqrt(LATENT)
        rng = np.random.default_rng(seed)
        z = rng.normal(size=(n, LATENT))
        logits = 1.1 * z @ word_dirs.T
        gumbel = rng.gumbel(size=logits.shape)
        self.words = torch.from_numpy(np.argsort(-(logits + 1.5 * gumbel), 1)[:, :WORDS].copy())
        attrs = np.tanh(1.5 * z @ attr_map) + 0.3 * rng.normal(size=(n, ATTR))
        self.attrs = torch.from_numpy(attrs.astype("float32"))

    def __len__(self):
        return len(self.words)

    def __getitem__(self, i):
        return self.words[i], self.attrs[i]


class TwoTower(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.emb = nn.EmbeddingBag(VOCAB, 64, mode="mean")
        self.text = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, dim))
        self.item = nn.Sequential(nn.Linear(ATTR, 128), nn.ReLU(), nn.Linear(128, dim))
        self.log_scale = nn.Parameter(torch.tensor(2.3))

    def forward(self, words, attrs):
        t = F.normalize(self.text(self.emb(words)), dim=-1)
        v = F.normalize(self.item(attrs), dim=-1)
        return t, v, self.log_scale.exp().clamp(max=50)


def recall(model, data, k):
    model.eval()
    with torch.no_grad():
        t, v, _ = model(data.words, data.attrs)
    own = (t * v).sum(1, keepdim=True)
    rank = (t @ v.T > own).sum(1)
    return (rank < k).float().mean().item()


def worker(rank, world, args):
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", str(args.port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)

    train_set, held = Captions(args.items, 1), Captions(500, 2)
    sampler = DistributedSampler(train_set, num_replicas=world, rank=rank, shuffle=True, drop_last=True)
    loader = DataLoader(train_set, batch_size=args.batch, sampler=sampler, drop_last=True)

    model = DDP(TwoTower())
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.02)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        model.train()
        running = 0.0
        for words, attrs in loader:
            t, v, scale = model(words, attrs)
            logits = scale * t @ v.T
            target = torch.arange(len(words))
            loss = (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target)) / 2
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss.item()
        sched.step()
        if rank == 0 and (epoch + 1) % 5 == 0:
            print(f"epoch {epoch + 1:3d}  loss {running / len(loader):.4f}  lr {sched.get_last_lr()[0]:.2e}", flush=True)

    if rank == 0:
        print(f"held-out recall@1 {recall(model.module, held, 1):.3f}  "
              f"recall@10 {recall(model.module, held, 10):.3f}  (chance {1 / len(held):.3f}, {10 / len(held):.3f})")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--gpus", type=int, default=2, help="number of workers")
    ap.add_argument("--items", type=int, default=1600)
    ap.add_argument("--batch", type=int, default=8)
    ap.add_argument("--epochs", type=int, default=20)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--seed", type=int, default=0)
    ap.add_argument("--port", type=int, default=29532)
    args = ap.parse_args()
    mp.spawn(worker, args=(args.gpus, args), nprocs=args.gpus)
