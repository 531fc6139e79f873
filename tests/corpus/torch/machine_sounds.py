import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

SR = 400
CLIP = 400
CFG = dict(kernels=(7, 21, 61), width=12, lr=2e-3, batch=50, epochs=8)


def synth(n, seed):
    g = np.random.default_rng(seed)
    t = np.arange(CLIP) / SR
    y = g.integers(0, 6, n)
    base = np.array([12.0, 17.0, 24.0])
    clips = np.zeros((n, CLIP), np.float32)
    for i, c in enumerate(y):
        f = base[c % 3] * g.uniform(0.93, 1.07)
        carrier = np.sin(2 * np.pi * f * t + g.uniform(0, 6.28))
        if c >= 3:
            carrier += 0.6 * np.sin(2 * np.pi * 3 * f * t + g.uniform(0, 6.28))
        clips[i] = g.uniform(0.5, 1.5) * carrier + g.normal(0, 1.2, CLIP)
    clips /= clips.std(axis=1, keepdims=True)
    return torch.from_numpy(clips).unsqueeze(1), torch.from_numpy(y)


def conv_branch(width, k):
    return nn.Sequential(
        nn.Conv1d(1, width, k, stride=2, padding=k // 2), nn.ReLU(),
        nn.Conv1d(width, width, k, stride=2, padding=k // 2), nn.ReLU(),
        nn.AdaptiveMaxPool1d(1), nn.Flatten(),
    )


class MultiScaleNet(nn.Module):
    def __init__(self, kernels, width, n_classes):
        super().__init__()
        self.branches = [conv_branch(width, k) for k in kernels]
        self.norm = nn.LayerNorm(width * len(kernels))
        self.head = nn.Sequential(nn.Linear(width * len(kernels), 32), nn.ReLU(), nn.Linear(32, n_classes))

    def forward(self, x):
        feats = torch.cat([b(x) for b in self.branches], dim=1)
        return self.head(self.norm(feats))


def run_epoch(model, loader, optimizer=None):
    model.train(optimizer is not None)
    total, right, seen = 0.0, 0, 0
    with torch.set_grad_enabled(optimizer is not None):
        for x, y in loader:
            out = model(x)
            loss = F.cross_entropy(out, y)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total += loss.item() * len(y)
            right += (out.argmax(1) == y).sum().item()
            seen += len(y)
    return total / seen, right / seen


torch.manual_seed(11)
train_dl = DataLoader(TensorDataset(*synth(1500, 1)), batch_size=CFG["batch"], shuffle=True)
test_dl = DataLoader(TensorDataset(*synth(500, 2)), batch_size=250)

net = MultiScaleNet(CFG["kernels"], CFG["width"], 6)
optimizer = torch.optim.AdamW(net.parameters(), lr=CFG["lr"])
for epoch in range(CFG["epochs"]):
    tr_loss, tr_acc = run_epoch(net, train_dl, optimizer)
    te_loss, te_acc = run_epoch(net, test_dl)
    print(f"{epoch}: train {tr_loss:.3f}/{tr_acc:.3f}  test {te_loss:.3f}/{te_acc:.3f}")
print(f"final test accuracy {te_acc:.3f} loss {te_loss:.3f}")
