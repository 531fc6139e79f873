"""BYOL-style self-distillation on load_digits with a slow-moving target network and a linear probe."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

torch.manual_seed(0)
digits = load_digits()
img = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
x_tr, x_te, y_tr, y_te = train_test_split(img, digits.target, test_size=600, stratify=digits.target, random_state=1)
few = torch.arange(100)  # labels the probe may see


def view(x):
    b = len(x)
    ang = torch.randn(b) * 0.25
    scale = torch.empty(b).uniform_(0.85, 1.2)
    mat = torch.zeros(b, 2, 3)
    mat[:, 0, 0], mat[:, 0, 1] = ang.cos() * scale, -ang.sin() * scale
    mat[:, 1, 0], mat[:, 1, 1] = ang.sin() * scale, ang.cos() * scale
    mat[:, :, 2] = torch.randn(b, 2) * 0.15
    out = F.grid_sample(x, F.affine_grid(mat, x.shape, align_corners=False), align_corners=False)
    return (out * torch.empty(b, 1, 1, 1).uniform_(0.7, 1.3) + 0.08 * torch.randn_like(out)).clamp(0, 1.5)


def mlp(i, h, o):
    return nn.Sequential(nn.Linear(i, h), nn.BatchNorm1d(h), nn.ReLU(), nn.Linear(h, o))


class Branch(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(),
            nn.Conv2d(24, 48, 3, padding=1, stride=2), nn.BatchNorm2d(48), nn.ReLU(),
            nn.Conv2d(48, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(),
            nn.AdaptiveAvgPool2d(2), nn.Flatten(),
        )
        self.projector = mlp(256, 128, 48)

    def forward(self, x):
        return self.projector(self.backbone(x))


online = Branch()
predictor = mlp(48, 96, 48)
target = copy.deepcopy(online)
for p in target.parameters():
    p.requires_grad_(False)

opt = torch.optim.AdamW([*online.parameters(), *predictor.parameters()], lr=2e-3, weight_decay=1e-4)


def regress(a, b):
    return 2 - 2 * F.cosine_similarity(predictor(online(a)), target(b).detach(), dim=1).mean()


@torch.no_grad()
def probe(net):
    net.eval()
    tr, te = net.backbone(x_tr[few]).numpy(), net.backbone(x_te).numpy()
    net.train()
    return LogisticRegression(max_iter=400, C=1.0).fit(tr, y_tr[: len(few)]).score(te, y_te)


print(f"probe on an untrained backbone {probe(Branch()):.3f}")
step, epochs = 0, 24
total_steps = epochs * (len(x_tr) // 128)
for epoch in range(epochs):
    spread = 0.0
    for idx in torch.randperm(len(x_tr)).split(128):
        if len(idx) < 128:
            continue
        a, b = view(x_tr[idx]), view(x_tr[idx])
        loss = regress(a, b) + regress(b, a)
        opt.zero_grad()
        loss.backward()
        opt.step()
        step += 1
        tau = 1 - 0.03 * (1 - step / total_steps)
        with torch.no_grad():
            for pt, po in zip(target.parameters(), online.parameters()):
                pt.lerp_(po, 1 - tau)
        spread = F.normalize(online(a).detach(), dim=1).std(0).mean().item()
    if (epoch + 1) % 6 == 0:
        print(f"epoch {epoch + 1:2d} loss {loss.item():.3f} embedding spread {spread:.3f} probe {probe(online):.3f}")

raw = LogisticRegression(max_iter=400).fit(x_tr[few].flatten(1), y_tr[:100]).score(x_te.flatten(1), y_te)
print(f"held-out probe with 100 labels {probe(online):.3f}   pixels {raw:.3f}   chance 0.10")
