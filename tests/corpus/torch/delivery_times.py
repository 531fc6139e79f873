import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Deliveries(Dataset):
    def __init__(self, n):
        g = torch.Generator().manual_seed(n)
        self.route = torch.randn(n, 8, generator=g)
        self.minutes = 3 * self.route[:, :1] - 2 * self.route[:, 3:4] + 0.2 * torch.randn(n, 1, generator=g)

    def __len__(self):
        return len(self.route)

    def __getitem__(self, i):
        return self.route[i], self.minutes[i]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.body(x).squeeze(1)


torch.manual_seed(0)
net = Net()
opt = torch.optim.AdamW(net.parameters(), lr=5e-3)
for epoch in range(10):
    for route, minutes in DataLoader(Deliveries(1200), batch_size=32, shuffle=True, drop_last=True):
        guess = net(route)
        loss = F.smooth_l1_loss(guess, minutes)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
