import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

CLASSES = ["land", "water", "settlement"]
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class FloodTiles(Dataset):
    def __init__(self, count, size=32, seed=0):
        rng = np.random.default_rng(seed)
        self.images = np.zeros((count, 3, size, size), dtype=np.float32)
        self.masks = np.zeros((count, size, size), dtype=np.uint8)
        yy, xx = np.mgrid[:size, :size]
        tint = np.array([[0.3, 0.5, 0.2], [0.1, 0.3, 0.6], [0.6, 0.5, 0.5]])
        for i in range(count):
            mask = np.zeros((size, size), dtype=np.uint8)
            bank = size * rng.uniform(0.3, 0.7) + 4 * np.sin(xx / rng.uniform(3, 6))
            mask[np.abs(yy - bank) < rng.uniform(3, 7)] = 1
            cy, cx = rng.integers(4, size - 8, 2)
            mask[cy:cy + 6, cx:cx + 6] = 2
            colours = tint[mask].transpose(2, 0, 1)
            self.images[i] = (colours + rng.normal(0, 0.12, colours.shape) - 0.4) / 0.25
            if rng.random() < 0.4:
                mask[:, -int(rng.integers(1, 6)):] = 255
            self.masks[i] = mask

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return torch.from_numpy(self.images[i]), torch.from_numpy(self.masks[i].astype(np.int64))


def block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class SmallUNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.down1 = block(3, 12)
        self.down2 = block(12, 24)
        self.up1 = block(24 + 12, 12)
        self.head = nn.Conv2d(12, classes, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        b = F.interpolate(b, scale_factor=2, mode="bilinear", align_corners=False)
        return self.head(self.up1(torch.cat([a, b], dim=1)))


def mean_iou(model, loader):
    model.eval()
    inter, union = torch.zeros(len(CLASSES)), torch.zeros(len(CLASSES))
    with torch.no_grad():
        for x, y in loader:
            pred, y = model(x.to(device)).argmax(1).cpu(), y
            known = y != 255
            for c in range(len(CLASSES)):
                p, t = (pred == c) & known, y == c
                inter[c] += (p & t).sum()
                union[c] += (p | t).sum()
    return (inter / union).mean().item()


def main():
    torch.manual_seed(1)
    train_loader = DataLoader(FloodTiles(320, seed=0), batch_size=16, shuffle=True)
    val_loader = DataLoader(FloodTiles(64, seed=1), batch_size=32)
    model = SmallUNet(len(CLASSES)).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=3, gamma=0.5)
    for epoch in range(6):
        model.train()
        losses = []
        for x, y in train_loader:
            x, y = x.to(device), y.to(device)
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        scheduler.step()
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f} mIoU {mean_iou(model, val_loader):.4f}")


if __name__ == "__main__":
    main()
