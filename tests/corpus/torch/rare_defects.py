"""Step 1: autoencoder on unlabelled tiles.  Step 2: frozen encoder + linear probe for rare scratches."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import average_precision_score, f1_score
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(2)


def tiles(n, rate):
    x = 0.3 * torch.randn(n, 1, 16, 16) + torch.linspace(0, 1, 16).view(1, 1, 1, 16) * torch.rand(n, 1, 1, 1)
    y = (torch.rand(n) < rate).long()
    for k in y.nonzero().flatten().tolist():
        r, c = torch.randint(2, 8, (2,)).tolist()
        d = torch.arange(7)
        x[k, 0, r + d, c + d] += 1.3
    return x, y


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU())

    def forward(self, x):
        return self.conv(x)


class Probe(nn.Module):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder.requires_grad_(False)
        self.norm = nn.LayerNorm(64)
        self.fc = nn.Linear(64, 2)

    def train(self, mode=True):
        super().train(mode)
        self.encoder.eval()
        return self

    def forward(self, x):
        h = self.encoder(x).flatten(2)
        return F.log_softmax(self.fc(self.norm(torch.cat([h.amax(-1), h.mean(-1)], 1))), dim=1)


unlabelled, _ = tiles(1500, 0.3)
train_x, train_y = tiles(1200, 0.08)
val_x, val_y = tiles(500, 0.08)
test_x, test_y = tiles(800, 0.08)

enc = Encoder()
dec = nn.Sequential(nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(16, 1, 4, 2, 1))
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=3e-3)
for epoch in range(5):
    for (x,) in DataLoader(TensorDataset(unlabelled), 64, shuffle=True):
        loss = F.mse_loss(dec(enc(x)), x)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("autoencoder", epoch, round(loss.item(), 4))

freq = torch.bincount(train_y).float()
sampler = WeightedRandomSampler((1 / freq)[train_y], num_samples=len(train_y), replacement=True)
model = Probe(enc)
opt = torch.optim.Adam((p for p in model.parameters() if p.requires_grad), lr=1e-2)
nll = nn.NLLLoss()
for epoch in range(12):
    model.train()
    for x, y in DataLoader(TensorDataset(train_x, train_y), 64, sampler=sampler):
        opt.zero_grad()
        nll(model(x), y).backward()
        opt.step()

model.eval()
with torch.no_grad():
    p_val, p_test = model(val_x)[:, 1].exp(), model(test_x)[:, 1].exp()
cut = max((c / 50 for c in range(1, 50)), key=lambda c: f1_score(val_y, p_val > c))
print("threshold", cut, "test F1", round(f1_score(test_y, p_test > cut), 3), "AP", round(average_precision_score(test_y, p_test), 3), "base rate", test_y.float().mean().item())
