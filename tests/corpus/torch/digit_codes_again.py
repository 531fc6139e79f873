import numpy as np
import torch
from torch import nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.manual_seed(2)
data = load_digits()
X = torch.tensor(data.data / 16.0, dtype=torch.float32)
y = torch.tensor(data.target)
idx_unlab, idx_rest = train_test_split(np.arange(len(y)), test_size=0.5, random_state=0, stratify=data.target)
idx_lab, idx_test = train_test_split(idx_rest, test_size=0.6, random_state=0, stratify=data.target[idx_rest])

encoder = nn.Sequential(nn.Linear(64, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Dropout(0.05), nn.Linear(128, 32))
decoder = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 64), nn.Sigmoid())


def pretrain(epochs=60, bs=64):
    opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=2e-3)
    pool = X[idx_unlab]
    for ep in range(epochs):
        encoder.train()
        decoder.train()
        tot = 0.0
        for b in torch.randperm(len(pool)).split(bs):
            clean = pool[b]
            noisy = clean + 0.15 * torch.randn_like(clean)
            loss = nn.functional.mse_loss(decoder(encoder(noisy)), clean)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item() * len(b)
        if ep % 20 == 19:
            print(f"pretrain {ep + 1}: reconstruction {tot / len(pool):.4f}")


class Probe(nn.Module):
    def __init__(self, backbone, n_classes):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(32, n_classes)

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()
        return self

    def forward(self, x):
        with torch.no_grad():
            z = self.backbone(x)
        return self.head(z)


def fit_probe(epochs=120, bs=32):
    model = Probe(encoder, 10)
    for p in model.backbone.parameters():
        p.requires_grad = False
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    xs, ys = X[idx_lab], y[idx_lab]
    for ep in range(epochs):
        model.train()
        tot = 0.0
        for b in torch.randperm(len(xs)).split(bs):
            loss = nn.functional.cross_entropy(model(xs[b]), ys[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item() * len(b)
        if ep % 40 == 39:
            print(f"probe {ep + 1}: loss {tot / len(xs):.4f}")
    return model


pretrain()
probe = fit_probe()
probe.eval()
with torch.no_grad():
    out = probe(X[idx_test])
print(f"test accuracy {(out.argmax(1) == y[idx_test]).float().mean():.3f}"
      f" loss {nn.functional.cross_entropy(out, y[idx_test]):.3f} with {len(idx_lab)} labelled images")
