import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIZE = 24
COLOURS = np.array([[200, 60, 60], [60, 200, 60], [60, 60, 200]], dtype=np.float32)
SHAPES = ("square", "disc")


def draw(colour, shape, rng):
    """RGB picture, height x width x channel, as an image library would hand it over."""
    img = rng.normal(110, 30, size=(SIZE, SIZE, 3))
    r = rng.integers(4, 7)
    cy, cx = rng.integers(r, SIZE - r, size=2)
    yy, xx = np.mgrid[:SIZE, :SIZE]
    if shape == 0:
        mask = (np.abs(yy - cy) <= r * 0.85) & (np.abs(xx - cx) <= r * 0.85)
    else:
        mask = np.abs(np.sqrt((yy - cy) ** 2 + (xx - cx) ** 2) - r + 1) <= 1.0
    img[mask] = COLOURS[colour] + rng.normal(0, 25, size=(mask.sum(), 3))
    return np.clip(img, 0, 255).astype(np.uint8)


class Pictures(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.y = rng.integers(0, len(COLOURS) * len(SHAPES), size=n)
        self.x = np.stack([draw(k % 3, k // 3, rng) for k in self.y])

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        img = torch.from_numpy(self.x[i]).float().div(255)
        img = img.permute(2, 0, 1)
        return (img - 0.43) / 0.15, int(self.y[i])


def conv_block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(), nn.MaxPool2d(2))


def main():
    torch.manual_seed(1)
    train = DataLoader(Pictures(1500, seed=1), batch_size=50, shuffle=True)
    test = DataLoader(Pictures(500, seed=2), batch_size=250)
    net = nn.Sequential(
        conv_block(3, 16), conv_block(16, 32),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 6),
    )
    optimiser = torch.optim.AdamW(net.parameters(), lr=3e-3)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(8):
        net.train()
        running = 0.0
        for x, y in train:
            optimiser.zero_grad()
            loss = loss_fn(net(x), y)
            loss.backward()
            optimiser.step()
            running += loss.item()
        net.eval()
        hits = colour_hits = n = 0
        with torch.no_grad():
            for x, y in test:
                p = net(x).argmax(1)
                hits += (p == y).sum().item()
                colour_hits += (p % 3 == y % 3).sum().item()
                n += len(y)
        print(f"epoch {epoch}  loss {running / len(train):.3f}  test acc {hits / n:.3f}  colour acc {colour_hits / n:.3f}")


if __name__ == "__main__":
    main()
