"""CLIP-style pairing of two views of the same digit (upper half and lower half)."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(12)
pix = torch.tensor(load_digits().images, dtype=torch.float32)[torch.randperm(1797)] / 16 - 0.5
upper, lower = pix[:, :4].flatten(1), pix[:, 4:].flatten(1)
n_train = 1500


def tower():
    return nn.Sequential(nn.Linear(32, 96), nn.GELU(), nn.Linear(96, 32))


class Pairing(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = tower(), tower()
        self.log_temp = nn.Parameter(torch.tensor(2.0))

    def forward(self, u, v):
        zu = F.normalize(self.a(u), dim=-1)
        zv = F.normalize(self.b(v), dim=-1)
        return self.log_temp.exp().clamp(max=50) * zu @ zv.T


model = Pairing()
opt = torch.optim.AdamW(
    [
        {"params": [*model.a.parameters(), *model.b.parameters()], "weight_decay": 0.01},
        {"params": [model.log_temp], "weight_decay": 0.0, "lr": 1e-2},
    ],
    lr=2e-3,
)

for epoch in range(1, 31):
    for idx in torch.randperm(n_train).split(125):
        u = upper[idx] + 0.05 * torch.randn(len(idx), 32)
        v = lower[idx] + 0.05 * torch.randn(len(idx), 32)
        logits = model(u, v)
        target = torch.arange(len(idx))
        loss = 0.5 * (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target))
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
    if epoch % 5 == 0:
        with torch.no_grad():
            logits = model(upper[n_train:], lower[n_train:])
            top = logits.topk(10, dim=1).indices
            gold = torch.arange(len(logits)).unsqueeze(1)
            hit1 = (top[:, :1] == gold).any(1).float().mean().item()
            hit10 = (top == gold).any(1).float().mean().item()
        print(f"epoch {epoch:2d}  loss {loss.item():.3f}  R@1 {hit1:.3f}  R@10 {hit10:.3f}  (chance {1 / len(logits):.3f} / {10 / len(logits):.3f})")
