import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split

torch.manual_seed(21)
LAND, WATER, ICE = 0, 1, 2


def scene(rng, size=32):
    yy, xx = np.mgrid[:size, :size]
    cy, cx = rng.uniform(10, 22, 2)
    ry, rx = rng.uniform(6, 11, 2)
    lake = ((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2 < 1
    ice = lake & (xx - cx > rng.uniform(-3, 3))
    mask = np.zeros((size, size), dtype=np.uint8)
    mask[lake] = WATER
    mask[ice] = ICE
    colours = np.array([[0.4, 0.5, 0.2], [0.1, 0.2, 0.6], [0.6, 0.7, 0.75]])
    image = colours[mask] + rng.normal(0, 0.15, (size, size, 3))
    return (np.clip(image, 0, 1) * 255).astype(np.uint8), mask


class LakeScenes(Dataset):
    def __init__(self, count, seed):
        rng = np.random.default_rng(seed)
        self.scenes = [scene(rng) for _ in range(count)]

    def __len__(self):
        return len(self.scenes)

    def __getitem__(self, index):
        image, mask = self.scenes[index]
        x = torch.from_numpy(image).permute(2, 0, 1).float() / 127.5 - 1
        y = torch.from_numpy(mask.astype(np.int32))
        return x, y


def block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU())


class TinyUNet(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.down1 = block(3, 12)
        self.down2 = block(12, 24)
        self.pool = nn.MaxPool2d(2)
        self.up = nn.ConvTranspose2d(24, 12, 2, stride=2)
        self.merge = block(24, 12)
        self.out = nn.Conv2d(12, classes, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(self.pool(a))
        return self.out(self.merge(torch.cat([a, self.up(b)], 1)))


class SegmentationLoss(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.ce = nn.CrossEntropyLoss(weight=torch.tensor(weights))

    def forward(self, logits, masks):
        return self.ce(logits, masks)


def mean_iou(net, loader):
    net.eval()
    inter, union = torch.zeros(3), torch.zeros(3)
    with torch.no_grad():
        for x, y in loader:
            p = net(x).argmax(1)
            for c in range(3):
                inter[c] += ((p == c) & (y == c)).sum()
                union[c] += ((p == c) | (y == c)).sum()
    return (inter / union.clamp(min=1)).mean().item()


data = LakeScenes(240, seed=5)
train_set, val_set = random_split(data, [200, 40])
train_loader = DataLoader(train_set, batch_size=10, shuffle=True)
val_loader = DataLoader(val_set, batch_size=40)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = TinyUNet().to(device)
criterion = SegmentationLoss([0.5, 1.0, 1.5]).to(device)
opt = torch.optim.Adam(net.parameters(), lr=2e-3)

for epoch in range(6):
    net.train()
    running = 0.0
    for x, y in train_loader:
        x, y = x.to(device), y.to(device)
        loss = criterion(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item() * len(x)
    print(f"epoch {epoch}: loss {running / len(train_set):.4f}  val mIoU {mean_iou(net, val_loader):.3f}")
