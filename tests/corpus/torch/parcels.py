# aerial tiles: 0 = ground, 1 = house, 2 = pond
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

NUM_CLASSES = 3


class Tiles(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        yy, xx = np.mgrid[:48, :48]
        self.images, self.masks = [], []
        for _ in range(n):
            img = rng.normal(90, 20, (48, 48, 3))
            mask = np.zeros((48, 48), np.uint8)
            for c, colour in ((1, (190, 120, 100)), (2, (60, 90, 170))):
                cy, cx = rng.integers(10, 38, 2)
                r = rng.integers(5, 9)
                d = np.maximum(abs(yy - cy), abs(xx - cx)) if c == 1 else np.hypot(yy - cy, xx - cx)
                img[d < r] = np.array(colour) + rng.normal(0, 20, ((d < r).sum(), 3))
                mask[d < r] = c
                mask[(d >= r) & (d < r + 1)] = 255
            self.images.append(img.clip(0, 255).astype(np.uint8))
            self.masks.append(mask)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        img = torch.from_numpy(self.images[i]).permute(2, 0, 1).float() / 255
        return img, torch.from_numpy(self.masks[i]).long()


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class FCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(block(3, 16), nn.MaxPool2d(2), block(16, 32), block(32, 32))
        self.up = nn.ConvTranspose2d(32, 16, 2, stride=2)
        self.classify = nn.Conv2d(16, NUM_CLASSES, 1)

    def forward(self, x):
        return self.classify(torch.relu(self.up(self.down(x))))


torch.manual_seed(0)
train_loader = DataLoader(Tiles(160, 0), batch_size=8, shuffle=True)
val_loader = DataLoader(Tiles(40, 1), batch_size=8)
model = FCN()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)

for epoch in range(14):
    model.train()
    for img, mask in train_loader:
        loss = criterion(model(img), mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    inter, union = torch.zeros(NUM_CLASSES), torch.zeros(NUM_CLASSES)
    with torch.no_grad():
        for img, mask in val_loader:
            keep = mask != 255
            pred, true = model(img).argmax(1)[keep], mask[keep]
            for c in range(NUM_CLASSES):
                inter[c] += ((pred == c) & (true == c)).sum()
                union[c] += ((pred == c) | (true == c)).sum()
    print("epoch", epoch, "loss %.3f" % loss.item(), "IoU", (inter / union).numpy().round(3))
