import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset

random.seed(1)
torch.manual_seed(1)

digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16.0
labels = digits.target
train_idx, test_idx = np.arange(1400), np.arange(1400, len(labels))


class PairDataset(Dataset):
    def __init__(self, indices):
        self.indices = indices
        self.by_class = {c: [i for i in indices if labels[i] == c] for c in range(10)}

    def __len__(self):
        return len(self.indices)

    def __getitem__(self, k):
        i = self.indices[k]
        same = random.random() < 0.5
        c = labels[i] if same else random.choice([c for c in range(10) if c != labels[i]])
        j = random.choice(self.by_class[c])
        return images[i], images[j], torch.tensor(float(same))


class Embedder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.fc = nn.Linear(32 * 2 * 2, dim)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(x.flatten(1))


def contrastive_loss(a, b, same, margin=1.0):
    dist = torch.sqrt(((a - b) ** 2).sum(dim=1))
    pull = same * dist.pow(2)
    push = (1 - same) * F.relu(margin - dist).pow(2)
    return (pull + push).mean()


net = Embedder()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
loader = DataLoader(PairDataset(train_idx), batch_size=64, shuffle=True)

for epoch in range(10):
    losses = []
    for a, b, same in loader:
        optimizer.zero_grad()
        loss = contrastive_loss(net(a), net(b), same)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print("epoch %d: contrastive loss %.4f" % (epoch + 1, np.mean(losses)))

net.eval()
with torch.no_grad():
    ref, qry = net(images[train_idx]), net(images[test_idx])
nearest = torch.cdist(qry, ref).argmin(dim=1).numpy()
print("1-NN accuracy: %.3f" % (labels[train_idx][nearest] == labels[test_idx]).mean())
