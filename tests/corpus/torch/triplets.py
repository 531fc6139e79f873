import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Views(Dataset):
    """Anchor, another view of the same thing, and something else."""

    def __init__(self, n=1200):
        g = torch.Generator().manual_seed(0)
        self.things = torch.randn(60, 20, generator=g)
        self.which = torch.randint(0, 60, (n, 2), generator=g)
        # sensors often report exactly the same vector twice
        self.jitter = 0.3 * torch.randn(n, 20, generator=g) * (torch.rand(n, 1, generator=g) > 0.3)

    def __len__(self):
        return len(self.which)

    def __getitem__(self, i):
        a, b = self.which[i].tolist()
        return self.things[a], self.things[a] + self.jitter[i], self.things[b]


def distance(u, v):
    return ((u - v) ** 2).sum(dim=1).sqrt()


torch.manual_seed(0)
embed = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 8))
opt = torch.optim.Adam(embed.parameters(), lr=1e-3)
for epoch in range(5):
    for anchor, positive, negative in DataLoader(Views(), batch_size=40, shuffle=True):
        a, p, n = embed(anchor), embed(positive), embed(negative)
        loss = torch.relu(distance(a, p) - distance(a, n) + 1.0).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
