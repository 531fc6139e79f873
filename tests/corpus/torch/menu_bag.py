import argparse
import random
import torch
from torch import nn
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=21)
parser.add_argument("--lr", type=float, default=0.4)
parser.add_argument("--batch-size", type=int, default=32)
parser.add_argument("--dim", type=int, default=24)
parser.add_argument("--seed", type=int, default=11)
opt = parser.parse_args()

torch.manual_seed(opt.seed)
rng = random.Random(opt.seed)

CUISINES = ["thai", "italian", "mexican", "indian", "french", "greek"]
SYLL = ["ka", "to", "mi", "ra", "lu", "pe", "so", "ni", "va", "ro", "el", "an"]
VOCAB = sorted({rng.choice(SYLL) + rng.choice(SYLL) + rng.choice(SYLL) for _ in range(420)})
INDEX = {w: i + 1 for i, w in enumerate(VOCAB)}
SIGNATURE = {c: rng.sample(VOCAB, 45) for c in CUISINES}


def make_dish(cuisine):
    length = rng.randint(8, 18)
    return [rng.choice(SIGNATURE[cuisine]) if rng.random() < 0.45 else rng.choice(VOCAB) for _ in range(length)]


def make_split(n):
    rows = []
    for _ in range(n):
        y = rng.randrange(len(CUISINES))
        rows.append((make_dish(CUISINES[y]), y))
    return rows


def collate(batch):
    ids, offsets, ys = [], [], []
    for words, y in batch:
        offsets.append(len(ids))
        ids.extend(INDEX.get(w, 0) for w in words)
        ys.append(y)
    return torch.tensor(ids), torch.tensor(offsets), torch.tensor(ys)


class BagModel(nn.Module):
    def __init__(self, vocab, dim, classes):
        super().__init__()
        self.bag = nn.EmbeddingBag(vocab, dim, mode="mean")
        self.out = nn.Sequential(nn.Linear(dim, 48), nn.ReLU(), nn.Linear(48, classes))

    def forward(self, ids, offsets):
        return self.out(self.bag(ids, offsets))


def accuracy(model, loader):
    model.eval()
    hit = total = 0
    with torch.no_grad():
        for ids, off, y in loader:
            hit += (model(ids, off).argmax(1) == y).sum().item()
            total += len(y)
    return hit / total


train_loader = DataLoader(make_split(4000), batch_size=opt.batch_size, shuffle=True, collate_fn=collate)
valid_loader = DataLoader(make_split(500), batch_size=200, collate_fn=collate)
test_loader = DataLoader(make_split(800), batch_size=200, collate_fn=collate)

model = BagModel(len(VOCAB) + 1, opt.dim, len(CUISINES))
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=opt.lr)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.2, patience=1)

for epoch in range(opt.epochs):
    model.train()
    running = 0.0
    for ids, off, y in train_loader:
        optimizer.zero_grad()
        loss = loss_fn(model(ids, off), y)
        loss.backward()
        optimizer.step()
        running += loss.item()
    valid_acc = accuracy(model, valid_loader)
    scheduler.step(valid_acc)
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1:2d}  loss {running / len(train_loader):.4f}  valid acc {valid_acc:.3f}  "
              f"lr {optimizer.param_groups[0]['lr']:.2e}")

print(f"test accuracy {accuracy(model, test_loader):.3f} (chance {1 / len(CUISINES):.3f})")
