"""Decide from the customer's letter whether a claim is covered by the warranty."""
import random
from collections import Counter

import torch
import torch.nn as nn
from sklearn.metrics import f1_score
from torch.utils.data import DataLoader, TensorDataset

COVERED = "motor failed screen flickers battery swelled seam split hinge snapped button stuck overheats rattles stopped charging".split()
NOT_COVERED = "dropped spilled coffee scratched stepped lost cable dented water sand dog chewed repainted opened myself".split()
COMMON = "the my device after two weeks i bought it in your shop and would like please help with this order again since".split()


def letter(covered, rng):
    own, other = (COVERED, NOT_COVERED) if covered else (NOT_COVERED, COVERED)
    words = rng.choices(COMMON, k=rng.randint(8, 16)) + rng.choices(own, k=3) + rng.choices(other, k=rng.randint(0, 1))
    rng.shuffle(words)
    return words


def build_vocab(letters):
    counts = Counter(w for l in letters for w in l)
    return {"<pad>": 0, "<unk>": 1, **{w: i + 2 for i, (w, _) in enumerate(counts.most_common())}}


def encode(letters, vocab, length=20):
    rows = [[vocab.get(w, 1) for w in l][:length] for l in letters]
    return torch.tensor([r + [0] * (length - len(r)) for r in rows])


class Bag(nn.Module):
    def __init__(self, vocab_size, dim=32):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, dim, padding_idx=0)
        self.net = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 2))

    def forward(self, ids):
        keep = (ids != 0).unsqueeze(-1).float()
        mean = (self.emb(ids) * keep).sum(1) / keep.sum(1).clamp(min=1)
        return self.net(mean)


def validate(model, loader):
    model.eval()
    outputs, labels = [], []
    with torch.no_grad():
        for ids, y in loader:
            outputs.append(model(ids))
            labels.append(y)
    outputs, labels = torch.cat(outputs), torch.cat(labels)
    return f1_score(labels.numpy(), outputs.numpy())


def main():
    random.seed(5)
    torch.manual_seed(5)
    rng = random.Random(5)
    y = [int(rng.random() < 0.4) for _ in range(1500)]
    letters = [letter(c, rng) for c in y]
    vocab = build_vocab(letters[:1200])
    x, y = encode(letters, vocab), torch.tensor(y)
    train = DataLoader(TensorDataset(x[:1200], y[:1200]), batch_size=32, shuffle=True)
    valid = DataLoader(TensorDataset(x[1200:], y[1200:]), batch_size=100)

    model = Bag(len(vocab))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for epoch in range(6):
        model.train()
        total = 0.0
        for ids, target in train:
            optimizer.zero_grad()
            loss = criterion(model(ids), target)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / len(train):.3f}, f1 {validate(model, valid):.3f}")


if __name__ == "__main__":
    main()
