"""Risk group of a patient from the list of coded ward events (variable length, padded to 32)."""
import numpy as np
import torch
from torch import nn

CODES, MAXLEN, GROUPS = 50, 32, 4


class EventStore:
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.ids = np.zeros((n, MAXLEN), dtype=np.int64)
        self.group = rng.integers(0, GROUPS, n)
        for i in range(n):
            length = rng.integers(6, 28)
            row = rng.integers(1 + 2 * GROUPS, CODES, length)
            where = rng.choice(length, 2, replace=False)
            row[where] = 1 + 2 * self.group[i] + rng.integers(0, 2, 2)
            self.ids[i, :length] = row

    def batches(self, size, rng=None):
        order = np.arange(len(self.ids)) if rng is None else rng.permutation(len(self.ids))
        for k in range(0, len(order), size):
            sel = order[k:k + size]
            yield torch.from_numpy(self.ids[sel]), torch.from_numpy(self.group[sel])


class RiskNet(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.embed = nn.Embedding(CODES, dim, padding_idx=0)
        self.query = nn.Parameter(torch.randn(1, 2, dim) * 0.1)
        self.attend = nn.MultiheadAttention(dim, 4, batch_first=True)
        self.mix = nn.Sequential(nn.Flatten(), nn.LayerNorm(2 * dim), nn.Linear(2 * dim, 64), nn.ReLU(),
                                 nn.Linear(64, GROUPS))

    def forward(self, ids):
        mask = ids != 0
        e = self.embed(ids)
        q = self.query.expand(len(ids), -1, -1)
        pooled, _ = self.attend(q, e, e, key_padding_mask=mask)
        return self.mix(pooled)


def score(net, store):
    net.eval()
    with torch.no_grad():
        hits = [(net(ids).argmax(1) == g).float() for ids, g in store.batches(500)]
    return torch.cat(hits).mean().item()


def run(epochs=16, lr=2e-3):
    torch.manual_seed(1)
    rng = np.random.default_rng(1)
    train, test = EventStore(5000, 10), EventStore(1000, 20)
    net = RiskNet()
    opt = torch.optim.AdamW(net.parameters(), lr=lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs)
    for ep in range(epochs):
        net.train()
        seen = []
        for ids, g in train.batches(50, rng):
            loss = nn.functional.cross_entropy(net(ids), g)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            seen.append(loss.item())
        sched.step()
        print(f"[{ep:02d}] loss={np.mean(seen):.4f} test_acc={score(net, test):.3f}")


run()
