import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(21)


class CenterLoss(nn.Module):
    def __init__(self, num_classes, feat_dim):
        super().__init__()
        self.centers = nn.Parameter(torch.randn(num_classes, feat_dim))

    def forward(self, feats, labels):
        return 0.5 * (feats - self.centers[labels]).pow(2).sum(1).mean()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 16, 3, padding=1)
        self.c2 = nn.Conv2d(16, 32, 3, padding=1)
        self.a1, self.a2, self.a3 = nn.PReLU(), nn.PReLU(), nn.PReLU()
        self.embed = nn.Linear(32 * 2 * 2, 2)
        self.classify = nn.Linear(2, 10, bias=False)

    def forward(self, x):
        x = F.max_pool2d(self.a1(self.c1(x)), 2)
        x = F.max_pool2d(self.a2(self.c2(x)), 2)
        feats = self.a3(self.embed(x.flatten(1)))
        return feats, self.classify(feats)


digits = load_digits()
data = TensorDataset(torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16,
                     torch.tensor(digits.target))
train_set, test_set = random_split(data, [1437, 360])
train_loader = DataLoader(train_set, batch_size=50, shuffle=True)
test_loader = DataLoader(test_set, batch_size=360)

net = Net()
center_loss = CenterLoss(10, 2)
opt_net = torch.optim.Adam(net.parameters(), lr=3e-3)
opt_centers = torch.optim.SGD(center_loss.parameters(), lr=0.5)
lam = 0.03

for epoch in range(1, 31):
    net.train()
    s_xent = s_cent = 0.0
    for x, y in train_loader:
        feats, logits = net(x)
        xent = F.cross_entropy(logits, y, label_smoothing=0.02)
        cent = center_loss(feats, y)
        opt_net.zero_grad()
        opt_centers.zero_grad()
        (xent + lam * cent).backward()
        for p in center_loss.parameters():
            p.grad.mul_(1.0 / lam)
        opt_net.step()
        opt_centers.step()
        s_xent += xent.item()
        s_cent += cent.item()
    if epoch % 3 == 0:
        net.eval()
        with torch.no_grad():
            x, y = next(iter(test_loader))
            feats, logits = net(x)
            acc = (logits.argmax(1) == y).float().mean().item()
            nearest = (torch.cdist(feats, center_loss.centers).argmin(1) == y).float().mean().item()
        n = len(train_loader)
        print(f"epoch {epoch}: xent {s_xent / n:.3f} center {s_cent / n:.3f} acc {acc:.3f} nearest-center acc {nearest:.3f}")
