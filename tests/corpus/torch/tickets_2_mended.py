import argparse
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

TOPICS = {
    "billing": "invoice charge refund card payment price receipt plan".split(),
    "login": "password account locked reset email code access session".split(),
    "delivery": "parcel courier late address package tracking warehouse door".split(),
    "defect": "broken screen noise battery crack overheats repair scratch".split(),
}
FILLER = "the a my is was please help i have today again with this from and hello thanks".split()
WORDS = ["<pad>"] + sorted({w for ws in TOPICS.values() for w in ws} | set(FILLER))
INDEX = {w: i for i, w in enumerate(WORDS)}
NAMES = list(TOPICS)


def write_ticket(rng):
    y = rng.randrange(len(NAMES))
    other = rng.choice(NAMES)
    words = [rng.choice(FILLER) for _ in range(rng.randint(6, 14))]
    words += [rng.choice(TOPICS[NAMES[y]]) for _ in range(rng.randint(2, 4))]
    words += [rng.choice(TOPICS[other])]
    rng.shuffle(words)
    return words, y


class Tickets(Dataset):
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.rows = [write_ticket(rng) for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        words, y = self.rows[i]
        return torch.tensor([INDEX[w] for w in words]), y


def pad(batch):
    xs, ys = zip(*batch)
    return nn.utils.rnn.pad_sequence(xs, batch_first=True), torch.tensor(ys)


class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0, smoothing=0.02):
        super().__init__()
        self.gamma = gamma
        self.smoothing = smoothing

    def forward(self, logits, target):
        ce = F.cross_entropy(logits, target, reduction="none", label_smoothing=self.smoothing)
        p = torch.softmax(logits, dim=-1).gather(1, target[:, None]).squeeze(1)
        return ((1 - p) ** self.gamma * ce).mean()


class ConvText(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.emb = nn.Embedding(len(WORDS), dim, padding_idx=0)
        self.conv = nn.Conv1d(dim, 64, 3, padding=1)
        self.mid = nn.Linear(64, 64)
        self.out = nn.Linear(64, len(NAMES))

    def forward(self, ids):
        h = F.relu(self.conv(self.emb(ids).transpose(1, 2)))
        h = F.relu(self.mid(h.max(dim=2).values))
        return self.out(h)


def accuracy(model, loader):
    model.eval()
    hit = n = 0
    with torch.no_grad():
        for x, y in loader:
            hit += (model(x).argmax(1) == y).sum().item()
            n += len(y)
    model.train()
    return hit / n


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--batch", type=int, default=128)
    ap.add_argument("--lr", type=float, default=0.2)
    ap.add_argument("--gamma", type=float, default=2.0)
    args = ap.parse_args()
    torch.manual_seed(11)
    train = DataLoader(Tickets(5000, 1), args.batch, shuffle=True, collate_fn=pad)
    test = DataLoader(Tickets(1000, 2), 256, collate_fn=pad)
    model = ConvText()
    criterion = FocalLoss(args.gamma)
    opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(args.epochs):
        seen = 0.0
        for x, y in train:
            opt.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            opt.step()
            seen += loss.item()
        print(f"epoch {epoch} loss {seen / len(train):.4f} test acc {accuracy(model, test):.3f}")
    print(f"final test accuracy {accuracy(model, test):.3f}")


if __name__ == "__main__":
    main()
