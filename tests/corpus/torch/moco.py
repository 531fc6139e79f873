import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier
from sklearn.model_selection import train_test_split

torch.manual_seed(4)

raw = load_digits()
imgs = torch.tensor(raw.images, dtype=torch.float32).unsqueeze(1) / 16.0
idx_tr, idx_te = train_test_split(range(len(imgs)), test_size=0.3, random_state=0, stratify=raw.target)
x_tr, x_te = imgs[idx_tr], imgs[idx_te]
y_tr, y_te = raw.target[idx_tr], raw.target[idx_te]


def augment(x):
    theta = torch.eye(2, 3).repeat(len(x), 1, 1)
    theta[:, :, :2] += 0.22 * torch.randn(len(x), 2, 2)
    theta[:, :, 2] += 0.12 * torch.randn(len(x), 2)
    x = F.grid_sample(x, F.affine_grid(theta, x.shape, align_corners=False), align_corners=False)
    gain = 0.7 + 0.6 * torch.rand(len(x), 1, 1, 1)
    drop = (torch.rand(len(x), 1, 8, 8) > 0.1).float()
    return x * gain * drop + 0.05 * torch.randn_like(x)


class Encoder(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(48 * 4, dim),
        )
        self.proj = nn.Sequential(nn.Linear(dim, 96), nn.BatchNorm1d(96), nn.ReLU(), nn.Linear(96, 32))

    def forward(self, x):
        return self.proj(self.body(x))


class SelfTeacher(nn.Module):
    def __init__(self, momentum=0.98, tau=0.2):
        super().__init__()
        self.m, self.tau = momentum, tau
        self.online = Encoder()
        self.target = copy.deepcopy(self.online)
        for p in self.target.parameters():
            p.requires_grad_(False)
        self.predictor = nn.Sequential(nn.Linear(32, 96), nn.BatchNorm1d(96), nn.ReLU(), nn.Linear(96, 32))

    @torch.no_grad()
    def update_target(self):
        for t, o in zip(self.target.parameters(), self.online.parameters()):
            t.mul_(self.m).add_(o, alpha=1 - self.m)

    def one_way(self, a, b):
        p = F.normalize(self.predictor(self.online(a)), dim=1)
        with torch.no_grad():
            z = F.normalize(self.target(b), dim=1)
        return F.cross_entropy(p @ z.t() / self.tau, torch.arange(len(p)))

    def forward(self, a, b):
        return self.one_way(a, b) + self.one_way(b, a)


@torch.no_grad()
def features(encoder, x):
    encoder.eval()
    out = encoder.body(x)
    encoder.train()
    return out


def probe(encoder, n_labelled=100):
    f_tr = F.normalize(features(encoder, x_tr[:n_labelled]), dim=1)
    f_te = F.normalize(features(encoder, x_te), dim=1)
    knn = KNeighborsClassifier(n_neighbors=1)
    knn.fit(f_tr.numpy(), y_tr[:n_labelled])
    return knn.score(f_te.numpy(), y_te), f_te.std(0).mean().item()


model = SelfTeacher()
opt = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=2e-3, weight_decay=1e-4)
print("untrained encoder: 1-nn probe %.4f, spread %.3f" % probe(model.online))
for epoch in range(64):
    model.train()
    tot = 0.0
    for idx in torch.randperm(len(x_tr)).split(128):
        if len(idx) < 32:
            continue
        loss = model(augment(x_tr[idx]), augment(x_tr[idx]))
        opt.zero_grad()
        loss.backward()
        opt.step()
        model.update_target()
        tot += loss.item() * len(idx)
    if epoch % 8 == 7:
        acc, spread = probe(model.online)
        print(f"epoch {epoch + 1:2d}  loss {tot / len(x_tr):.4f}  1-nn probe {acc:.4f}  spread {spread:.3f}")
