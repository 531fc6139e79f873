"""Two towers for a shop of glassware: find the photo that belongs to a description."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

WORDS = ["<pad>", "small", "medium", "large", "red", "green", "blue", "amber", "clear",
         "round", "square", "tall", "flat", "striped", "plain", "dotted",
         "a", "vase", "bottle", "with", "finish", "for", "the", "table"]
IDX = {w: i for i, w in enumerate(WORDS)}
SIZES, COLOURS = WORDS[1:4], WORDS[4:9]
SHAPES, FINISHES = WORDS[9:13], WORDS[13:16]
TINT = torch.tensor([[1, .1, .1], [.1, 1, .1], [.1, .1, 1], [1, .6, .1], [.9, .9, .9]])


@dataclass
class Options:
    n_train: int = 1500
    n_test: int = 180
    batch_size: int = 60
    epochs: int = 12
    dim: int = 48
    lr: float = 2e-3
    seed: int = 21


def draw(size, colour, shape, finish, g):
    img = 0.15 * torch.randn(3, 24, 24, generator=g)
    r = 3 + 3 * size
    h, w = {0: (r, r), 1: (r, r), 2: (r + 2, max(r // 2, 2)), 3: (max(r // 2, 2), r + 2)}[shape]
    cy, cx = (12 + torch.randint(-1, 2, (2,), generator=g)).tolist()
    yy, xx = torch.meshgrid(torch.arange(24), torch.arange(24), indexing="ij")
    if shape == 0:
        mask = ((yy - cy) ** 2 + (xx - cx) ** 2) <= r * r
    else:
        mask = ((yy - cy).abs() <= h) & ((xx - cx).abs() <= w)
    texture = torch.ones(24, 24)
    if finish == 0:
        texture[::2] = 0.3
    elif finish == 2:
        texture[::2, ::2] = 0.0
    return img + (mask * texture)[None] * TINT[colour][:, None, None]


def describe(size, colour, shape, finish, g):
    noun = ["vase", "bottle"][int(torch.randint(0, 2, (1,), generator=g))]
    words = ["a", SIZES[size], COLOURS[colour], SHAPES[shape], noun, "with", FINISHES[finish], "finish"]
    if torch.rand(1, generator=g) < 0.5:
        words += ["for", "the", "table"]
    ids = [IDX[w] for w in words]
    return torch.tensor(ids + [0] * (11 - len(ids)))


class Catalogue(Dataset):
    def __init__(self, rows, seed):
        g = torch.Generator().manual_seed(seed)
        # every combination of attributes comes about equally often
        combos = torch.cartesian_prod(*(torch.arange(n) for n in (3, 5, 4, 3)))
        picks = torch.cat([torch.randperm(len(combos), generator=g)
                           for _ in range(-(-rows // len(combos)))])[:rows]
        self.attrs = combos[picks]
        self.images = torch.stack([draw(*a.tolist(), g) for a in self.attrs])
        self.texts = torch.stack([describe(*a.tolist(), g) for a in self.attrs])

    def __len__(self):
        return len(self.attrs)

    def __getitem__(self, i):
        return {"image": self.images[i], "text": self.texts[i]}


class ImageTower(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 48, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(48 * 36, 128), nn.ReLU(), nn.Linear(128, dim))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


class TextTower(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.bag = nn.EmbeddingBag(len(WORDS), 64, mode="mean", padding_idx=0)
        self.net = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, dim))

    def forward(self, ids):
        return F.normalize(self.net(self.bag(ids)), dim=-1)


class Matcher(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.image, self.text = ImageTower(dim), TextTower(dim)
        self.log_scale = nn.Parameter(torch.tensor(2.3))

    def forward(self, batch):
        logits = self.log_scale.exp().clamp(max=50) * self.image(batch["image"]) @ self.text(batch["text"]).T
        gold = torch.arange(len(logits))
        return (F.cross_entropy(logits, gold) + F.cross_entropy(logits.T, gold)) / 2


def get_loader(dataset, opts):
    return DataLoader(dataset, batch_size=opts.batch_size, shuffle=True)


@torch.no_grad()
def embed(tower, loader, key):
    tower.eval()
    return torch.cat([tower(batch[key]) for batch in loader])


def recall_at(k, queries, gallery):
    best = (queries @ gallery.T).topk(k, dim=1).indices
    return (best == torch.arange(len(queries))[:, None]).any(1).float().mean().item()


def main():
    opts = Options()
    torch.manual_seed(opts.seed)
    train_loader = get_loader(Catalogue(opts.n_train, 1), opts)
    test_loader = get_loader(Catalogue(opts.n_test, 2), opts)
    model = Matcher(opts.dim)
    optimizer = torch.optim.AdamW(model.parameters(), lr=opts.lr, weight_decay=1e-3)
    for epoch in range(opts.epochs):
        model.train()
        total = 0.0
        for batch in train_loader:
            loss = model(batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch % 3 == 2:
            texts = embed(model.text, test_loader, "text")
            images = embed(model.image, test_loader, "image")
            print(f"epoch {epoch + 1:2d} loss {total / len(train_loader):.3f} "
                  f"R@1 {recall_at(1, texts, images):.3f} R@5 {recall_at(5, texts, images):.3f}")


if __name__ == "__main__":
    main()
