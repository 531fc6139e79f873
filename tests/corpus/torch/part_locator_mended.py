"""Find the one bright part on a cluttered conveyor image: box regression + part type."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIZE = 32
KINDS = ("washer", "bolt", "plate")


def draw(rng):
    img = rng.normal(0.2, 0.08, (SIZE, SIZE))
    for _ in range(4):  # scratches
        r, c = rng.integers(0, SIZE, 2)
        if rng.random() < 0.5:
            img[r, c:c + 8] += 0.3
        else:
            img[r:r + 8, c] += 0.3
    kind = rng.integers(len(KINDS))
    w, h = {0: (9, 9), 1: (5, 13), 2: (13, 8)}[int(kind)]
    w, h = w + rng.integers(-1, 3), h + rng.integers(-1, 3)
    x1, y1 = rng.integers(0, SIZE - w + 1), rng.integers(0, SIZE - h + 1)
    if kind == 0:
        yy, xx = np.mgrid[0:h, 0:w]
        d = np.hypot((xx - (w - 1) / 2) / (w / 2), (yy - (h - 1) / 2) / (h / 2))
        img[y1:y1 + h, x1:x1 + w] += 0.7 * ((d <= 1) & (d > 0.35))
    else:
        img[y1:y1 + h, x1:x1 + w] += rng.uniform(0.5, 0.8)
    return img.astype(np.float32), np.array([x1, y1, x1 + w, y1 + h], dtype=np.float32), int(kind)


class HorizontalFlip:
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, img, box):
        if torch.rand(1).item() < self.p:
            img = img.flip(-1)
            box = torch.stack([SIZE - box[2], box[1], SIZE - box[0], box[3]])
        return img, box


class Brightness:
    def __call__(self, img, box):
        return img * (0.8 + 0.4 * torch.rand(1)), box


class Parts(Dataset):
    def __init__(self, n, seed, transforms=()):
        rng = np.random.default_rng(seed)
        imgs, boxes, kinds = zip(*(draw(rng) for _ in range(n)))
        self.imgs = torch.from_numpy(np.stack(imgs))[:, None]
        self.boxes = torch.from_numpy(np.stack(boxes))
        self.kinds = torch.tensor(kinds)
        self.transforms = transforms

    def __len__(self):
        return len(self.imgs)

    def __getitem__(self, i):
        img, box = self.imgs[i], self.boxes[i]
        for t in self.transforms:
            img, box = t(img, box)
        return img, box / SIZE, self.kinds[i]


class Locator(nn.Module):
    def __init__(self):
        super().__init__()

        def block(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, stride=2, padding=1, bias=False),
                                 nn.BatchNorm2d(o), nn.ReLU(inplace=True))

        self.backbone = nn.Sequential(block(1, 16), block(16, 32), block(32, 32), nn.Flatten())
        self.neck = nn.Sequential(nn.Linear(32 * 16, 96), nn.ReLU())
        self.box = nn.Linear(96, 4)
        self.kind = nn.Linear(96, len(KINDS))

    def forward(self, x):
        h = self.neck(self.backbone(x))
        return self.box(h).sigmoid(), self.kind(h)


def iou(a, b):
    lt, rb = torch.maximum(a[:, :2], b[:, :2]), torch.minimum(a[:, 2:], b[:, 2:])
    inter = (rb - lt).clamp(min=0).prod(1)
    area = (a[:, 2:] - a[:, :2]).clamp(min=0).prod(1) + (b[:, 2:] - b[:, :2]).prod(1)
    return inter / (area - inter)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    ious, hits = [], []
    for img, box, kind in loader:
        pred, logits = model(img)
        ious.append(iou(pred, box))
        hits.append(logits.argmax(1) == kind)
    ious, hits = torch.cat(ious), torch.cat(hits).float()
    return ious.mean().item(), (ious > 0.5).float().mean().item(), hits.mean().item()


def fit(epochs=14, lr=3e-3):
    torch.manual_seed(23)
    train = Parts(2000, seed=1, transforms=(HorizontalFlip(), Brightness()))
    test = Parts(500, seed=2)
    train_dl = DataLoader(train, batch_size=64, shuffle=True, drop_last=True)
    test_dl = DataLoader(test, batch_size=250)
    model = Locator()
    opt = torch.optim.AdamW(model.parameters(), lr=lr)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=lr, total_steps=epochs * len(train_dl))
    for epoch in range(epochs):
        model.train()
        sums = np.zeros(2)
        for img, box, kind in train_dl:
            pred, logits = model(img)
            l_box = nn.functional.smooth_l1_loss(pred, box, beta=0.05)
            l_kind = nn.functional.cross_entropy(logits, kind)
            opt.zero_grad()
            (10 * l_box + l_kind).backward()
            opt.step()
            sched.step()
            sums += [l_box.item(), l_kind.item()]
        if epoch % 3 == 1 or epoch == epochs - 1:
            print("epoch %2d  box %.4f  kind %.4f" % (epoch, *(sums / len(train_dl))))
    miou, ap50, acc = evaluate(model, test_dl)
    mean_box = (train.boxes.mean(0) / SIZE).expand(len(test), 4)
    print(f"held-out mean IoU {miou:.3f}  IoU>0.5 {ap50:.3f}  kind accuracy {acc:.3f}   "
          f"(mean box: IoU {iou(mean_box, test.boxes / SIZE).mean():.3f})")


if __name__ == "__main__":
    fit()
