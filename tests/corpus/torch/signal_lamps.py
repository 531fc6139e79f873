# Recognise the colour of a railway signal lamp in small photos.
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

COLOURS = {
    "red": (230, 40, 40), "green": (40, 210, 80), "amber": (240, 170, 30),
    "white": (215, 215, 215), "blue": (50, 80, 230), "violet": (180, 60, 220),
    "orange": (240, 110, 30), "teal": (40, 190, 170), "pink": (240, 130, 180), "lemon": (220, 230, 60),
}
SIDE = 32


def photo(rng, rgb):
    img = rng.normal(70, 18, size=(SIDE, SIDE, 3)) + rng.uniform(-25, 25, size=3)
    cy, cx = rng.integers(8, SIDE - 8, size=2)
    r = rng.uniform(4, 7)
    yy, xx = np.mgrid[:SIDE, :SIDE]
    lamp = (yy - cy) ** 2 + (xx - cx) ** 2 < r * r
    img[lamp] = np.array(rgb) * rng.uniform(0.7, 1.05) + rng.normal(0, 12, size=(lamp.sum(), 3))
    return img.clip(0, 255).astype(np.uint8)


class LampPhotos(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, len(COLOURS), n)
        table = list(COLOURS.values())
        self.images = np.stack([photo(rng, table[k]) for k in self.labels])

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        img = torch.from_numpy(self.images[i]).float() / 255.0
        img = img.reshape(3, SIDE, SIDE)
        return (img - 0.4) / 0.25, int(self.labels[i])


class LampNet(nn.Module):
    def __init__(self):
        super().__init__()

        def stage(a, b):
            return [nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)]

        self.features = nn.Sequential(*stage(3, 16), *stage(16, 24), *stage(24, 32))
        self.head = nn.Linear(32, len(COLOURS))

    def forward(self, x):
        return self.head(self.features(x).mean(dim=(2, 3)))


def evaluate(net, loader):
    net.eval()
    right = 0
    with torch.no_grad():
        for x, y in loader:
            right += (net(x).argmax(1) == y).sum().item()
    return right / len(loader.dataset)


if __name__ == "__main__":
    torch.manual_seed(0)
    train = DataLoader(LampPhotos(900, 1), batch_size=32, shuffle=True)
    test = DataLoader(LampPhotos(1500, 2), batch_size=100)
    net = LampNet()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    for epoch in range(7):
        net.train()
        losses = []
        for x, y in train:
            loss = nn.functional.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        print(f"epoch {epoch} loss {np.mean(losses):.3f} test acc {evaluate(net, test):.3f}")
