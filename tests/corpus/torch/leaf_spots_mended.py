"""Leaf spot pictures: learn on the old greenhouse (8 sorts), then move over to the new one (5 sorts)."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(3)
SIZE = 20


def make_templates(k, seed):
    g = torch.Generator().manual_seed(seed)
    coarse = torch.randn(k, 3, 5, 5, generator=g)
    return F.interpolate(coarse, size=(SIZE, SIZE), mode="bilinear")


def pictures(templates, n, noise=1.2):
    y = torch.randint(len(templates), (n,))
    x = templates[y] + noise * torch.randn(n, 3, SIZE, SIZE)
    shift = torch.randint(-2, 3, (n,))
    x = torch.stack([torch.roll(a, int(s), dims=2) for a, s in zip(x, shift)])
    return x, y


class LeafNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(),
        )
        self.neck = nn.Sequential(nn.Linear(32 * 5 * 5, 64), nn.ReLU())
        self.head = nn.Linear(64, n_classes)

    def forward(self, x):
        return self.head(self.neck(self.body(x)))


def run_epochs(net, opt, x, y, epochs, bs=64):
    for ep in range(epochs):
        net.train()
        total = 0.0
        for idx in torch.randperm(len(x)).split(bs):
            opt.zero_grad()
            loss = F.cross_entropy(net(x[idx]), y[idx])
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        print(f"  epoch {ep + 1} loss {total / len(x):.4f}")


@torch.no_grad()
def accuracy(net, x, y):
    net.eval()
    return (net(x).argmax(1) == y).float().mean().item()


old_t, new_t = make_templates(8, 11), make_templates(5, 12)
xo, yo = pictures(old_t, 3000)
xot, yot = pictures(old_t, 600)
xn, yn = pictures(new_t, 2500)
xnt, ynt = pictures(new_t, 600)

net = LeafNet(8)
print("old greenhouse")
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
run_epochs(net, opt, xo, yo, epochs=5)
print("old accuracy", round(accuracy(net, xot, yot), 3))

print("new greenhouse")
for p in net.body.parameters():
    p.requires_grad_(False)
net.neck = nn.Sequential(nn.Linear(32 * 5 * 5, 48), nn.ReLU())
net.head = nn.Linear(48, 5)
opt = torch.optim.Adam([p for p in net.parameters() if p.requires_grad], lr=1e-3)
run_epochs(net, opt, xn, yn, epochs=12)
print("new accuracy", round(accuracy(net, xnt, ynt), 3))
