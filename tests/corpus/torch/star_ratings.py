import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Ratings(Dataset):
    def __init__(self, n=1500):
        self.taste = torch.randn(n, 8)
        self.stars = (self.taste.sum(1) / 8 ** 0.5 * 1.2 + 3).round().clamp(1, 5).long()

    def __len__(self):
        return len(self.stars)

    def __getitem__(self, index):
        return self.taste[index], self.stars[index]


class Net(nn.Module):
    def __init__(self, hidden=32, ratings=5):
        super().__init__()
        self.l1 = nn.Linear(8, hidden)
        self.l2 = nn.Linear(hidden, ratings)

    def forward(self, x):
        return self.l2(F.relu(self.l1(x)))


torch.manual_seed(3)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.005)
for epoch in range(5):
    for taste, stars in DataLoader(Ratings(), batch_size=30, shuffle=True):
        logits = net(taste)
        loss = F.cross_entropy(logits, stars)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
