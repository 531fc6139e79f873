import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

random.seed(8)
torch.manual_seed(8)
PEOPLE = torch.randn(40, 24)


class Pairs(Dataset):
    """Two noisy views, 1 if they are of the same person."""

    def __len__(self):
        return 1500

    def __getitem__(self, _):
        same = random.random() < 0.5
        a = random.randrange(40)
        b = a if same else random.choice([p for p in range(40) if p != a])
        return PEOPLE[a] + 0.4 * torch.randn(24), PEOPLE[b] + 0.4 * torch.randn(24), torch.tensor(float(same))


class ContrastiveLoss(nn.Module):
    def __init__(self, margin=1.0):
        super().__init__()
        self.margin = margin

    def forward(self, u, v, same):
        d = torch.sqrt(((u - v) ** 2).sum(1) + 1e-9)
        return (same * d ** 2 + (1 - same) * torch.clamp(self.margin - d, min=0) ** 2).mean()


class Twin(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 16))

    def forward(self, a, b):
        return self.net(a), self.net(b)


twin, criterion = Twin(), ContrastiveLoss()
optimizer = torch.optim.Adam(twin.parameters(), lr=1e-3)
for epoch in range(4):
    total = 0.0
    for a, b, same in DataLoader(Pairs(), batch_size=30):
        optimizer.zero_grad()
        loss = criterion(*twin(a, b), same)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(epoch, total / 50)
