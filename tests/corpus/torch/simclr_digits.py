"""Learn digit features without labels (contrastive), then read them out with a linear probe."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.manual_seed(0)
digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16.0
labels = torch.tensor(digits.target)
idx_train, idx_test = train_test_split(np.arange(len(labels)), test_size=0.3, stratify=digits.target, random_state=0)


def augment(x):
    """Small random rotation, shift and zoom, then noise."""
    n = len(x)
    ang = (torch.rand(n) - 0.5) * 0.6
    zoom = 1 + (torch.rand(n) - 0.5) * 0.4
    theta = torch.zeros(n, 2, 3)
    theta[:, 0, 0], theta[:, 0, 1] = zoom * ang.cos(), -zoom * ang.sin()
    theta[:, 1, 0], theta[:, 1, 1] = zoom * ang.sin(), zoom * ang.cos()
    theta[:, :, 2] = (torch.rand(n, 2) - 0.5) * 0.4
    grid = F.affine_grid(theta, x.shape, align_corners=False)
    return F.grid_sample(x, grid, align_corners=False) + 0.05 * torch.randn_like(x)


class Encoder(nn.Module):
    def __init__(self, dim=128):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.BatchNorm2d(64), nn.ReLU(),
            nn.Flatten(), nn.Linear(64 * 16, dim), nn.ReLU(),
        )
        self.projector = nn.Sequential(nn.Linear(dim, 64), nn.ReLU(), nn.Linear(64, 32))

    def forward(self, x):
        return F.normalize(self.projector(self.trunk(x)), dim=1)


def nt_xent(a, b, tau=0.3):
    z = torch.cat([a, b])
    n = len(a)
    sim = z @ z.T / tau
    sim.fill_diagonal_(float("-inf"))
    partner = torch.cat([torch.arange(n) + n, torch.arange(n)])
    return F.cross_entropy(sim, partner)


def probe(encoder, epochs=60):
    encoder.eval()
    with torch.no_grad():
        feats = encoder.trunk(images)
    feats = (feats - feats[idx_train].mean(0)) / (feats[idx_train].std(0) + 1e-6)
    head = nn.Linear(feats.shape[1], 10)
    opt = torch.optim.SGD(head.parameters(), lr=0.1, momentum=0.9)
    for _ in range(epochs):
        opt.zero_grad()
        F.cross_entropy(head(feats[idx_train]), labels[idx_train]).backward()
        opt.step()
    with torch.no_grad():
        return (head(feats[idx_test]).argmax(1) == labels[idx_test]).float().mean().item()


encoder = Encoder()
print(f"probe on an untrained encoder: {probe(encoder):.3f}")
optimizer = torch.optim.AdamW(encoder.parameters(), lr=2e-3, weight_decay=1e-4)
x_train = images[idx_train]
for epoch in range(1, 31):
    encoder.train()
    losses = []
    for batch in torch.randperm(len(x_train)).split(256):
        if len(batch) < 256:
            continue
        x = x_train[batch]
        loss = nt_xent(encoder(augment(x)), encoder(augment(x)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if epoch % 5 == 0:
        print(f"epoch {epoch:3d}  contrastive loss {np.mean(losses):.3f}")

for p in encoder.parameters():
    p.requires_grad_(False)
print(f"linear probe on the frozen encoder: {probe(encoder):.3f}")
