# Benign / malignant from the Wisconsin measurements. The export from our lab system
# has a few gaps, simulated below, and rows with a gap are thrown away.
import numpy as np
import torch
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from torch import nn
import torch.nn.functional as F

rng = np.random.default_rng(11)
torch.manual_seed(11)


def load_export():
    features, target = load_breast_cancer(return_X_y=True)
    gaps = rng.random(features.shape) < 0.003
    features[gaps] = np.nan
    return features, target


def clean(features, target):
    complete = ~np.isnan(features).any(axis=1)
    features = features[complete]
    target = target[: len(features)]
    return features.astype(np.float32), target.astype(np.float32)


features, target = load_export()
features, target = clean(features, target)
print("rows kept:", len(features), " positives:", int(target.sum()))

order = rng.permutation(len(features))
features, target = features[order], target[order]
cut = int(0.75 * len(features))
scaler = StandardScaler().fit(features[:cut])
x_tr = torch.from_numpy(scaler.transform(features[:cut])).float()
x_va = torch.from_numpy(scaler.transform(features[cut:])).float()
y_tr, y_va = torch.from_numpy(target[:cut]), torch.from_numpy(target[cut:])

model = nn.Sequential(nn.Linear(30, 24), nn.ReLU(), nn.Dropout(0.1), nn.Linear(24, 1))
opt = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-4)

for epoch in range(1, 41):
    model.train()
    perm = torch.randperm(len(x_tr))
    running = []
    for i in range(0, len(perm), 32):
        idx = perm[i : i + 32]
        logit = model(x_tr[idx]).squeeze(1)
        loss = F.binary_cross_entropy_with_logits(logit, y_tr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        running.append(loss.item())

    if epoch % 5 == 0:
        model.eval()
        with torch.no_grad():
            logit = model(x_va).squeeze(1)
            v_loss = F.binary_cross_entropy_with_logits(logit, y_va).item()
            v_acc = ((logit > 0).float() == y_va).float().mean().item()
        print(f"[{epoch:02d}] train {np.mean(running):.4f}  val {v_loss:.4f}  val acc {v_acc:.3f}")
