import torch
from torch import nn
from torch.utils.data import TensorDataset, DataLoader, random_split

torch.manual_seed(13)

# --- data: 10 lab measurements -> quality score
n = 10000
x = torch.randn(n, 10)
score = (1.5 * torch.sin(1.3 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.8 * x[:, 3].abs()
         - 0.6 * x[:, 4] + 0.5 * (x[:, 5] > 0.3).float() * x[:, 6])
y = score + 0.2 * torch.randn(n)
y = (y - y.mean()) / y.std()
tr, va = random_split(TensorDataset(x, y[:, None]), [8000, 2000])
tr_dl = DataLoader(tr, batch_size=64, shuffle=True)
va_dl = DataLoader(va, batch_size=500)


# --- model
class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.fc1 = nn.Linear(d, d)
        self.fc2 = nn.Linear(d, d)

    def forward(self, h):
        return h + self.fc2(torch.relu(self.fc1(h)))


class WineNet(nn.Module):
    def __init__(self, d=96, depth=3):
        super().__init__()
        self.inp = nn.Linear(10, d)
        self.blocks = nn.ModuleList(Block(d) for _ in range(depth))
        self.out = nn.Linear(d, 1)
        self.apply(self.reset)

    @staticmethod
    def reset(m):
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, std=0.05)
            nn.init.zeros_(m.bias)

    def forward(self, x):
        h = self.inp(x)
        for b in self.blocks:
            h = b(h)
        return self.out(torch.relu(h))


net = WineNet()
opt = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-3)
epochs = 30
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs)
mse = nn.MSELoss()

for e in range(epochs):
    net.train()
    s = 0.0
    for xb, yb in tr_dl:
        loss = mse(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        s += loss.item() * len(xb)
    sched.step()
    net.eval()
    with torch.no_grad():
        v = sum(mse(net(xb), yb).item() for xb, yb in va_dl) / len(va_dl)
    if e % 3 == 0 or e == epochs - 1:
        print(f"{e:3d} train {s / len(tr):.4f} val {v:.4f} r2 {1 - v / y.var().item():.3f}")
