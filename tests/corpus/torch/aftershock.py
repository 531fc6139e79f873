import copy
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import average_precision_score, balanced_accuracy_score

np.random.seed(19)
torch.manual_seed(19)


def traces(n, share=0.04):
    y = (np.random.rand(n) < share).astype(np.float32)
    x = np.random.randn(n, 100).astype(np.float32) * 0.6
    t = np.arange(100)
    for i in np.where(y == 1)[0]:
        s = np.random.randint(10, 60)
        x[i] += (t >= s) * 2.2 * np.sin((t - s) * np.random.uniform(0.7, 1.0)) * np.exp(-(t - s) / 18.0)
    return torch.from_numpy(x.astype(np.float32)).unsqueeze(1), torch.from_numpy(y)


def focal_loss(logits, y, alpha=0.9, gamma=2.0):
    ce = F.binary_cross_entropy_with_logits(logits, y, reduction="none")
    p = torch.exp(-ce)
    a = torch.where(y == 1, alpha, 1 - alpha)
    return 4 * (a * (1 - p) ** gamma * ce).mean()


class Picker(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(1, 16, 9, padding=4), nn.GroupNorm(4, 16), nn.GELU(), nn.AvgPool1d(2),
            nn.Conv1d(16, 32, 9, padding=4), nn.GroupNorm(4, 32), nn.GELU())
        self.fc = nn.Linear(32, 1)

    def forward(self, x):
        return self.fc(self.conv(x).amax(-1)).squeeze(1)


x_train, y_train = traces(4000)
x_val, y_val = traces(1500)
model = Picker()
nn.init.constant_(model.fc.bias, -2.0)
ema = copy.deepcopy(model).requires_grad_(False).eval()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)

for epoch in range(10):
    model.train()
    total = 0.0
    for idx in torch.randperm(len(x_train)).split(64):
        optimizer.zero_grad()
        loss = focal_loss(model(x_train[idx]), y_train[idx])
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(ema.parameters(), model.parameters()):
                slow.lerp_(fast, 0.02)
        total += loss.item() * len(idx)
    with torch.no_grad():
        logits = ema(x_val)
    ap = average_precision_score(y_val.numpy(), logits.numpy())
    ba = balanced_accuracy_score(y_val.numpy(), (logits > 0).numpy())
    print(f"epoch {epoch + 1} focal {total / len(x_train):.4f} ema AP {ap:.3f} balanced acc {ba:.3f} "
          f"(positives {y_val.mean().item():.3f})")
