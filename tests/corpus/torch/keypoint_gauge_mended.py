"""Find the needle tip (x, y in 0..1) on small synthetic gauge pictures."""
import math
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader

SIZE = 24
torch.manual_seed(3)


def draw(n, gen):
    ang = torch.rand(n, generator=gen) * 2 * math.pi
    length = 0.15 + 0.25 * torch.rand(n, generator=gen)
    tips = torch.stack([0.5 + length * ang.cos(), 0.5 + length * ang.sin()], 1)
    grid = (torch.arange(SIZE) + 0.5) / SIZE
    yy, xx = torch.meshgrid(grid, grid, indexing="ij")
    imgs = torch.zeros(n, SIZE, SIZE)
    for step in torch.linspace(0, 1, 8):
        px = 0.5 + (tips[:, 0] - 0.5) * step
        py = 0.5 + (tips[:, 1] - 0.5) * step
        d = (xx - px[:, None, None]) ** 2 + (yy - py[:, None, None]) ** 2
        imgs = torch.maximum(imgs, torch.exp(-d / 0.002))
    imgs += 0.05 * torch.randn(imgs.shape, generator=gen)
    return imgs[:, None], tips


class GaugeSet(Dataset):
    def __init__(self, images, tips, augment=False):
        self.images, self.tips, self.augment = images, tips, augment

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        img, tip = self.images[i], self.tips[i].clone()
        if self.augment:
            if torch.rand(1).item() < 0.5:
                img = torch.flip(img, dims=[-1])
                tip[0] = 1 - tip[0]
            img = img * (0.8 + 0.4 * torch.rand(1))
        return img, tip


class TipNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 12, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(12, 24, 3, stride=2, padding=1), nn.ReLU())
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(24 * 36, 64), nn.ReLU(), nn.Linear(64, 2))

    def forward(self, x):
        return self.head(self.conv(x))


gen = torch.Generator().manual_seed(0)
train = GaugeSet(*draw(1200, gen), augment=True)
val = GaugeSet(*draw(300, gen))
train_loader = DataLoader(train, batch_size=32, shuffle=True)
val_loader = DataLoader(val, batch_size=100)

net = TipNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
loss_fn = nn.SmoothL1Loss(beta=0.05)
for epoch in range(8):
    net.train()
    total = 0.0
    for img, tip in train_loader:
        opt.zero_grad()
        loss = loss_fn(net(img), tip)
        loss.backward()
        opt.step()
        total += loss.item() * len(img)
    net.eval()
    with torch.no_grad():
        err = torch.cat([(net(img) - tip).abs() for img, tip in val_loader]) * SIZE
    print(f"epoch {epoch}  train {total / len(train):.4f}  val error in px: x {err[:, 0].mean():.2f} y {err[:, 1].mean():.2f}")
