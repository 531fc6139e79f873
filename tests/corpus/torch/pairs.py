import random
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

random.seed(3)
np.random.seed(3)
torch.manual_seed(3)

N_PEOPLE = 12
SIZE = 14


def make_signatures():
    """every writer has a base drawing, each sample is a shifted noisy copy"""
    base = np.random.rand(N_PEOPLE, SIZE, SIZE) < 0.3
    samples = {}
    for p in range(N_PEOPLE):
        imgs = []
        for _ in range(40):
            im = base[p].astype(np.float32)
            im = np.roll(im, np.random.randint(-1, 2), axis=np.random.randint(0, 2))
            im = im + 0.2 * np.random.randn(SIZE, SIZE)
            imgs.append(im.astype(np.float32))
        samples[p] = np.stack(imgs)
    return samples


class PairDataset(Dataset):
    def __init__(self, samples, lo, hi, n_pairs):
        self.items = []
        for i in range(n_pairs):
            p = random.randrange(N_PEOPLE)
            if i % 2 == 0:
                q = p
            else:
                q = random.choice([k for k in range(N_PEOPLE) if k != p])
            a = samples[p][random.randrange(lo, hi)]
            b = samples[q][random.randrange(lo, hi)]
            self.items.append((a, b, 1.0 if p == q else 0.0))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        a, b, same = self.items[i]
        return torch.from_numpy(a)[None], torch.from_numpy(b)[None], torch.tensor(same)


class SiameseNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.cnn = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
        )
        self.fc = nn.Linear(32 * 7 * 7, 24)

    def embed(self, x):
        return self.fc(self.cnn(x).flatten(1))

    def forward(self, a, b):
        return self.embed(a), self.embed(b)


class ContrastiveLoss(nn.Module):
    def __init__(self, margin=2.0):
        super().__init__()
        self.margin = margin

    def forward(self, e1, e2, same):
        dist = F.pairwise_distance(e1, e2, keepdim=True)
        pull = same * dist.pow(2)
        push = (1 - same) * torch.clamp(self.margin - dist, min=0).pow(2)
        return (pull + push).mean()


@torch.no_grad()
def verify(net, loader, threshold):
    net.eval()
    right = total = 0
    for a, b, same in loader:
        e1, e2 = net(a, b)
        guess = (F.pairwise_distance(e1, e2) < threshold).float()
        right += (guess == same).sum().item()
        total += len(same)
    net.train()
    return right / total


samples = make_signatures()
train_loader = DataLoader(PairDataset(samples, 0, 30, 3000), batch_size=50, shuffle=True)
test_loader = DataLoader(PairDataset(samples, 30, 40, 600), batch_size=50)
net = SiameseNet()
criterion = ContrastiveLoss()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(8):
    running = 0.0
    for a, b, same in train_loader:
        opt.zero_grad()
        loss = criterion(*net(a, b), same)
        loss.backward()
        opt.step()
        running += loss.item()
    print(f"epoch {epoch + 1}: loss {running / len(train_loader):.4f}  "
          f"test acc {verify(net, test_loader, 1.0):.3f}")
