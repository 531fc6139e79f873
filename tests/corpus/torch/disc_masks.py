import torch
import torch.nn as nn
from torch.utils.data import DataLoader

torch.manual_seed(21)
S = 20
yy, xx = torch.meshgrid(torch.arange(S), torch.arange(S), indexing="ij")


def make(n):
    imgs, masks = [], []
    for _ in range(n):
        cy, cx = torch.randint(4, S - 4, (2,))
        r = torch.randint(2, 5, (1,))
        m = ((yy - cy) ** 2 + (xx - cx) ** 2 <= r**2).float()
        imgs.append(0.8 * m + 0.3 * torch.randn(S, S))
        masks.append(m)
    return torch.stack(imgs).unsqueeze(1), torch.stack(masks).unsqueeze(1)


train_imgs, train_masks = make(1200)
val_imgs, val_masks = make(200)

img_loader = DataLoader(train_imgs, batch_size=40, shuffle=True)
mask_loader = DataLoader(train_masks, batch_size=40, shuffle=True)


def conv(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class SegNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = conv(1, 12)
        self.mid = nn.Sequential(nn.MaxPool2d(2), conv(12, 24), nn.Upsample(scale_factor=2))
        self.out = nn.Sequential(conv(36, 12), nn.Conv2d(12, 1, 1))

    def forward(self, x):
        d = self.down(x)
        return self.out(torch.cat([d, self.mid(d)], dim=1))


def dice(logits, target, eps=1e-6):
    pred = (logits > 0).float()
    inter = (pred * target).sum()
    return ((2 * inter + eps) / (pred.sum() + target.sum() + eps)).item()


net = SegNet()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
bce = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(3.0))

for epoch in range(8):
    net.train()
    run = 0.0
    for img, mask in zip(img_loader, mask_loader):
        opt.zero_grad()
        loss = bce(net(img), mask)
        loss.backward()
        opt.step()
        run += loss.item()
    net.eval()
    with torch.no_grad():
        score = dice(net(val_imgs), val_masks)
    print(f"epoch {epoch}: train loss {run / len(img_loader):.4f}  val dice {score:.3f}")
