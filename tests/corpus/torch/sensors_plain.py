"""Encoder learned without labels, then a linear probe on the few labelled rows."""
import torch
import torch.nn as nn
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score

torch.manual_seed(9)
X, y = make_classification(n_samples=5000, n_features=40, n_informative=12, n_redundant=24, n_classes=3,
                           n_clusters_per_class=1, weights=[0.8, 0.14, 0.06], class_sep=2.6, flip_y=0, random_state=9)
X, y = torch.tensor(X, dtype=torch.float32), torch.tensor(y)
X = (X - X[:4000].mean(0)) / X[:4000].std(0)

encoder = nn.Sequential(nn.Linear(40, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 16))
decoder = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 40))
opt = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=2e-3)
for epoch in range(12):
    encoder.train()
    s = 0.0
    for idx in torch.randperm(4000).split(100):
        clean = X[idx]
        loss = (decoder(encoder(clean + 0.2 * torch.randn_like(clean))) - clean).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        s += loss.item() / 40
    if epoch % 4 == 3:
        print(f"pretrain {epoch + 1}: mse {s:.3f}")

encoder.requires_grad_(False)
encoder.eval()
head = nn.Linear(16, 3)
few = torch.arange(600)
w = 600 / (3 * torch.bincount(y[few], minlength=3).float())
probe_opt = torch.optim.SGD(head.parameters(), lr=0.3)
ACC = 4
for epoch in range(60):
    head.train()
    total = 0.0
    chunks = few[torch.randperm(600)].split(25)
    for i, idx in enumerate(chunks):
        with torch.no_grad():
            z = encoder(X[idx])
        loss = nn.functional.cross_entropy(head(z), y[idx], weight=w, reduction="none").mean()
        (loss / ACC).backward()
        total += loss.item()
        if (i + 1) % ACC == 0:
            probe_opt.step()
            probe_opt.zero_grad()
    if epoch % 15 == 14:
        with torch.no_grad():
            pred = head(encoder(X[4000:])).argmax(1)
        acc = (pred == y[4000:]).float().mean()
        print(f"probe {epoch + 1}: loss {total / len(chunks):.3f} acc {acc:.3f} "
              f"balanced {balanced_accuracy_score(y[4000:], pred):.3f}")
