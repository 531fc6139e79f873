"""Pretrain on digits 0-4, then reuse the convolutional body for digits 5-9."""
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.manual_seed(0)


class SmallConvNet(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.Flatten(),
        )
        self.fc = nn.Linear(32 * 16, n_out)

    def forward(self, x):
        return self.fc(self.body(x))


def load_split(keep):
    d = load_digits()
    mask = [t in keep for t in d.target]
    x = torch.tensor(d.images[mask] / 16.0, dtype=torch.float32).unsqueeze(1)
    y = torch.tensor(d.target[mask]) - min(keep)
    tr, te = train_test_split(range(len(y)), test_size=0.3, random_state=0, stratify=y.numpy())
    return x[tr], y[tr], x[te], y[te]


def run_epochs(net, opt, x, y, epochs, tag, bs=32):
    for e in range(epochs):
        perm = torch.randperm(len(x))
        losses = []
        for i in range(0, len(x), bs):
            idx = perm[i:i + bs]
            loss = F.cross_entropy(net(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.detach())
        print(f"{tag} epoch {e + 1}/{epochs} loss {torch.stack(losses).mean():.4f}")


def acc(net, x, y):
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()


# stage 1: source digits
xs, ys, xs_te, ys_te = load_split({0, 1, 2, 3, 4})
source = SmallConvNet(5)
run_epochs(source, torch.optim.Adam(source.parameters(), lr=1e-3), xs, ys, 8, "source")
print(f"source held-out accuracy {acc(source, xs_te, ys_te):.3f}")

# stage 2: target digits, body kept fixed, new classifier
xt, yt, xt_te, yt_te = load_split({5, 6, 7, 8, 9})
net = copy.deepcopy(source)
for p in net.body.parameters():
    p.requires_grad_(False)
net.fc = nn.Linear(net.fc.in_features, 5)
optimizer = torch.optim.Adam(filter(lambda p: p.requires_grad, net.parameters()), lr=3e-3)
run_epochs(net, optimizer, xt, yt, 10, "target")

majority = torch.bincount(yt_te).max().item() / len(yt_te)
print(f"target held-out accuracy {acc(net, xt_te, yt_te):.3f} (majority {majority:.3f})")
