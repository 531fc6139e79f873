import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, random_split, TensorDataset

torch.manual_seed(9)
SIZE = 24


def make_tiles(n):
    grid = torch.stack(torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")).float()
    images, masks = [], []
    for _ in range(n):
        mask = torch.zeros(SIZE, SIZE, dtype=torch.bool)
        for _ in range(int(torch.randint(1, 4, (1,)))):
            c = torch.rand(2, 1, 1) * SIZE
            mask |= ((grid - c) ** 2).sum(0).sqrt() < 3 + 4 * torch.rand(1)
        water = torch.tensor([0.1, 0.4, 0.7]) + 0.08 * torch.randn(3)
        grass = torch.tensor([0.2, 0.5, 0.3]) + 0.08 * torch.randn(3)
        img = torch.where(mask[None], grass[:, None, None], water[:, None, None])
        images.append(img + 0.15 * torch.randn(3, SIZE, SIZE))
        masks.append(mask.float()[None])
    x = torch.stack(images)
    return TensorDataset((x - x.mean((0, 2, 3), keepdim=True)) / x.std((0, 2, 3), keepdim=True), torch.stack(masks))


class SmallUNet(nn.Module):
    def __init__(self, c=12):
        super().__init__()
        self.enc1 = nn.Sequential(nn.Conv2d(3, c, 3, padding=1), nn.ReLU(), nn.Conv2d(c, c, 3, padding=1), nn.ReLU())
        self.enc2 = nn.Sequential(nn.Conv2d(c, 2 * c, 3, padding=1), nn.ReLU())
        self.dec = nn.Sequential(nn.Conv2d(3 * c, c, 3, padding=1), nn.ReLU(), nn.Conv2d(c, 1, 1))

    def forward(self, x):
        a = self.enc1(x)
        b = self.enc2(F.max_pool2d(a, 2))
        b = F.interpolate(b, scale_factor=2, mode="nearest")
        return self.dec(torch.cat([a, b], dim=1))


def iou(logits, target):
    pred = logits > 0
    inter = (pred & (target > 0.5)).sum().item()
    union = (pred | (target > 0.5)).sum().item()
    return inter, union


train_set, val_set = random_split(make_tiles(500), [420, 80])
train_loader = DataLoader(train_set, batch_size=12, shuffle=True)
val_loader = DataLoader(val_set, batch_size=40)

net = SmallUNet()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
bce = nn.BCEWithLogitsLoss()

for epoch in range(6):
    net.train()
    running = 0.0
    for img, mask in train_loader:
        out = net(img)
        loss = bce(out, mask)
        loss.backward()
        opt.step()
        running += loss.item()
    net.eval()
    inter = union = 0
    with torch.no_grad():
        for img, mask in val_loader:
            i, u = iou(net(img), mask)
            inter, union = inter + i, union + u
    print(f"epoch {epoch + 1}: train loss {running / len(train_loader):.4f}  val IoU {inter / max(union, 1):.3f}")
