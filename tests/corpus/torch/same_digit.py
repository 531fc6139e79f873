import random

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset

random.seed(1)
torch.manual_seed(1)


class PairDataset(Dataset):
    """Half of the pairs show the same digit, half show different ones."""

    def __init__(self, images, labels, n_pairs):
        self.images = images
        self.by_label = {d: [i for i, l in enumerate(labels) if l == d] for d in range(10)}
        self.pairs = []
        for k in range(n_pairs):
            if k % 2 == 0:
                d = random.randrange(10)
                a, b = random.choice(self.by_label[d]), random.choice(self.by_label[d])
                self.pairs.append((a, b, 1.0))
            else:
                d, e = random.sample(range(10), 2)
                self.pairs.append((random.choice(self.by_label[d]), random.choice(self.by_label[e]), 0.0))

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        a, b, same = self.pairs[i]
        return self.images[a], self.images[b], torch.tensor(same)


class Embedder(nn.Module):
    def __init__(self, out=16):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(128, out),
        )

    def forward(self, x):
        return self.body(x)


def distance(u, v):
    return torch.sqrt(((u - v) ** 2).sum(dim=1))


def contrastive_loss(dist, same, margin=2.0):
    pull = same * dist ** 2
    push = (1 - same) * torch.clamp(margin - dist, min=0) ** 2
    return (pull + push).mean()


digits = load_digits()
images = torch.tensor(digits.images / 16.0, dtype=torch.float32).unsqueeze(1)
train_pairs = PairDataset(images[:1300], digits.target[:1300], 6000)
test_pairs = PairDataset(images[1300:], digits.target[1300:], 1000)
train_loader = DataLoader(train_pairs, batch_size=64, shuffle=True)
test_loader = DataLoader(test_pairs, batch_size=250)

net = Embedder()
optim = torch.optim.Adam(net.parameters(), lr=1e-3)

for epoch in range(6):
    net.train()
    losses = []
    for left, right, same in train_loader:
        optim.zero_grad()
        loss = contrastive_loss(distance(net(left), net(right)), same)
        loss.backward()
        optim.step()
        losses.append(loss.item())
    net.eval()
    right_calls = 0
    with torch.no_grad():
        for left, right, same in test_loader:
            close = distance(net(left), net(right)) < 1.0
            right_calls += (close == same.bool()).sum().item()
    print(f"epoch {epoch}: loss {sum(losses) / len(losses):.4f}  pair accuracy {right_calls / len(test_pairs):.3f}")
