"""Find promoters: first fill in hidden bases, then fine-tune on labelled fragments."""
import numpy as np
import torch
from torch import nn

BASES = {"A": 0, "C": 1, "G": 2, "T": 3, "N": 4}
MASK = 5
LENGTH = 60


def fragment(rng, promoter):
    seq = rng.choice(list("acgt"), size=LENGTH, p=[0.3, 0.2, 0.2, 0.3])
    if promoter:
        at = rng.integers(5, LENGTH - 20)
        seq[at:at + 6] = list("tataat")
        seq[at + 10:at + 14] = list("ggcc")
    return "".join(seq)


def fasta(n, seed):
    rng = np.random.default_rng(seed)
    lines, labels = [], []
    for i in range(n):
        y = int(rng.random() < 0.5)
        lines += [f">frag_{i} len=60", fragment(rng, y)]
        labels.append(y)
    return "\n".join(lines), torch.tensor(labels)


def parse(text):
    return [row.strip() for row in text.splitlines() if row and not row.startswith(">")]


def encode(seqs):
    rows = [[BASES.get(ch, BASES["N"]) for ch in s] for s in seqs]
    return torch.tensor(rows)


class DnaNet(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.emb = nn.Embedding(6, dim)
        self.conv = nn.Sequential(
            nn.Conv1d(dim, 64, 9, padding=4), nn.ReLU(), nn.Conv1d(64, 64, 7, padding=3), nn.ReLU(),
        )
        self.fill = nn.Conv1d(64, 5, 1)
        self.cls = nn.Linear(64, 2)

    def features(self, ids):
        return self.conv(self.emb(ids).transpose(1, 2))

    def fill_in(self, ids):
        return self.fill(self.features(ids))

    def forward(self, ids):
        return self.cls(self.features(ids).amax(-1))


def chunks(n, size):
    order = torch.randperm(n)
    return [order[i:i + size] for i in range(0, n, size)]


def pretrain(net, ids, epochs, lr=2e-3):
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    for epoch in range(epochs):
        total = 0.0
        for idx in chunks(len(ids), 64):
            gold = ids[idx]
            hide = torch.rand(gold.shape) < 0.15
            logits = net.fill_in(gold.masked_fill(hide, MASK))
            loss = nn.functional.cross_entropy(logits, gold.masked_fill(~hide, -100))
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        print(f"[fill] epoch {epoch} loss {total / len(ids):.4f}")


def finetune(net, ids, y, test_ids, test_y, epochs, lr=1e-3):
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    for epoch in range(epochs):
        net.train()
        total = 0.0
        for idx in chunks(len(ids), 64):
            loss = nn.functional.cross_entropy(net(ids[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        net.eval()
        with torch.no_grad():
            acc = (net(test_ids).argmax(-1) == test_y).float().mean().item()
        print(f"[promoter] epoch {epoch} loss {total / len(ids):.4f} test accuracy {acc:.3f}")
    return acc


if __name__ == "__main__":
    torch.manual_seed(0)
    unlabelled, _ = fasta(1500, 1)
    labelled, y = fasta(1600, 2)
    held_out, ty = fasta(500, 3)
    net = DnaNet()
    pretrain(net, encode(parse(unlabelled)), epochs=4)
    acc = finetune(net, encode(parse(labelled)), y, encode(parse(held_out)), ty, epochs=8)
    print(f"final test accuracy {acc:.3f} (majority {max(ty.float().mean(), 1 - ty.float().mean()):.3f})")
