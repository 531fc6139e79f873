"""Grade kiln photos by glow (five grades). Memory on the line computer is small, hence micro batches."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

EFFECTIVE = 16
MICRO = 16


class KilnPhotos(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.grade = torch.randint(0, 5, (n,), generator=g)
        base = 0.2 + 0.15 * self.grade.float()
        texture = torch.randn(n, 1, 16, 16, generator=g) * 0.25
        spots = F.interpolate(torch.randn(n, 1, 4, 4, generator=g) * 0.1, size=(16, 16))
        self.img = base.view(-1, 1, 1, 1) + texture + spots

    def __len__(self):
        return len(self.grade)

    def __getitem__(self, i):
        return self.img[i], self.grade[i]


def block(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, padding=1, bias=False),
        nn.BatchNorm2d(cout),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
    )


class GlowNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(block(1, 12), block(12, 24))
        self.fc = nn.Linear(24, 5)

    def forward(self, x):
        return self.fc(self.features(x).mean(dim=(2, 3)))


class Fitter:
    def __init__(self, model, lr=2e-3):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.every = EFFECTIVE // MICRO

    def train_epoch(self, loader):
        self.model.train()
        self.opt.zero_grad()
        total, count = 0.0, 0
        for step, (x, y) in enumerate(loader, 1):
            loss = F.cross_entropy(self.model(x), y)
            (loss / self.every).backward()
            if step % self.every == 0:
                self.opt.step()
                self.opt.zero_grad()
            total += loss.item() * len(y)
            count += len(y)
        return total / count

    @torch.no_grad()
    def score(self, loader):
        self.model.eval()
        right = sum((self.model(x).argmax(1) == y).sum().item() for x, y in loader)
        return right / len(loader.dataset)


def main():
    torch.manual_seed(2)
    train = DataLoader(KilnPhotos(1600, 0), batch_size=MICRO, shuffle=True, drop_last=True)
    test = DataLoader(KilnPhotos(500, 1), batch_size=50)
    fit = Fitter(GlowNet())
    for epoch in range(10):
        loss = fit.train_epoch(train)
        print(f"epoch {epoch + 1}: loss {loss:.4f}  test accuracy {fit.score(test):.3f}")


if __name__ == "__main__":
    main()
