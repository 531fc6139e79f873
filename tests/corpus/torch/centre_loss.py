import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import TensorDataset, DataLoader, random_split

torch.manual_seed(5)
NUM_CLASSES = 6


def spirals(n_per_class: int = 400):
    xs, ys = [], []
    for c in range(NUM_CLASSES):
        t = torch.rand(n_per_class).sqrt() * 3.0
        angle = t * 1.4 + 2 * torch.pi * c / NUM_CLASSES
        pts = torch.stack([t * angle.cos(), t * angle.sin()], 1)
        xs.append(pts + 0.06 * torch.randn_like(pts))
        ys.append(torch.full((n_per_class,), c))
    return torch.cat(xs), torch.cat(ys)


class FeatureNet(nn.Module):
    def __init__(self, feat_dim: int = 8):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(2, 64), nn.ReLU(),
            nn.Linear(64, 64), nn.ReLU(),
            nn.Linear(64, feat_dim),
        )
        self.head = nn.Linear(feat_dim, NUM_CLASSES)

    def forward(self, x):
        f = self.body(x)
        return f, self.head(F.relu(f))


class CentreLoss(nn.Module):
    """distance of each feature to the running centre of its class"""

    def __init__(self, num_classes: int, feat_dim: int, momentum: float = 0.9):
        super().__init__()
        self.momentum = momentum
        self.register_buffer("centres", torch.zeros(num_classes, feat_dim))

    def update(self, feats, labels):
        onehot = F.one_hot(labels, self.centres.size(0)).float()
        count = onehot.sum(0).unsqueeze(1)
        batch_mean = onehot.t() @ feats / count.clamp(min=1)
        moved = self.momentum * self.centres + (1 - self.momentum) * batch_mean
        self.centres = torch.where(count > 0, moved, self.centres)

    def forward(self, feats, labels):
        self.update(feats, labels)
        return (feats - self.centres[labels]).pow(2).sum(1).mean()


def accuracy(model, loader):
    model.eval()
    good = n = 0
    with torch.no_grad():
        for x, y in loader:
            _, logits = model(x)
            good += (logits.argmax(1) == y).sum().item()
            n += y.numel()
    model.train()
    return good / n


def main():
    x, y = spirals()
    ds = TensorDataset(x, y)
    train, val = random_split(ds, [2000, len(ds) - 2000], generator=torch.Generator().manual_seed(0))
    train_dl = DataLoader(train, batch_size=64, shuffle=True)
    val_dl = DataLoader(val, batch_size=200)

    model = FeatureNet()
    ce = nn.CrossEntropyLoss()
    centre = CentreLoss(NUM_CLASSES, 8)
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)

    for epoch in range(30):
        ce_sum = c_sum = 0.0
        for xb, yb in train_dl:
            feats, logits = model(xb)
            l1 = ce(logits, yb)
            l2 = centre(feats, yb)
            opt.zero_grad()
            (l1 + 0.01 * l2).backward()
            opt.step()
            ce_sum += l1.item()
            c_sum += l2.item()
        if epoch % 5 == 4:
            k = len(train_dl)
            print(f"epoch {epoch + 1} ce {ce_sum / k:.4f} centre {c_sum / k:.4f} val acc {accuracy(model, val_dl):.3f}")


if __name__ == "__main__":
    main()
