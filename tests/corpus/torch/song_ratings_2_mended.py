import numpy as np
import torch
from torch import nn

# Ratings of songs by listeners: biased matrix factorisation with a small MLP on top.

rng = np.random.default_rng(77)
torch.manual_seed(77)

n_users, n_songs, k = 400, 300, 4
U = rng.normal(0, 0.7, (n_users, k))
S = rng.normal(0, 0.7, (n_songs, k))
bu = rng.normal(0, 0.5, n_users)
bs = rng.normal(0, 0.6, n_songs)

n = 40000
u = rng.integers(0, n_users, n)
s = rng.integers(0, n_songs, n)
r = 3.0 + (U[u] * S[s]).sum(1) + bu[u] + bs[s] + rng.normal(0, 0.2, n)
r = r.astype("float32")

u, s, r = torch.tensor(u), torch.tensor(s), torch.tensor(r)
split = int(0.9 * n)


class Factor(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.user = nn.Embedding(n_users, dim)
        self.song = nn.Embedding(n_songs, dim)
        self.user_b = nn.Embedding(n_users, 1)
        self.song_b = nn.Embedding(n_songs, 1)
        for e in (self.user, self.song):
            nn.init.normal_(e.weight, std=0.1)
        for e in (self.user_b, self.song_b):
            nn.init.zeros_(e.weight)
        self.mean = nn.Parameter(torch.tensor(3.0))

    def forward(self, u, s):
        dot = (self.user(u) * self.song(s)).sum(-1)
        return self.mean + dot + self.user_b(u).squeeze(-1) + self.song_b(s).squeeze(-1)


def rmse(model, lo, hi):
    with torch.no_grad():
        return ((model(u[lo:hi], s[lo:hi]) - r[lo:hi]) ** 2).mean().sqrt().item()


model = Factor()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=1e-3)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.93)

batch = 128
epochs = 15
for epoch in range(epochs):
    perm = torch.randperm(split)
    running, seen = 0.0, 0
    for i in range(0, split, batch):
        idx = perm[i:i + batch]
        pred = model(u[idx], s[idx])
        loss = nn.functional.mse_loss(pred, r[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item() * len(idx)
        seen += len(idx)
    scheduler.step()
    print(f"epoch {epoch + 1:2d}  train mse {running / seen:.4f}  held-out rmse {rmse(model, split, n):.4f}")

base = (r[split:] - r[:split].mean()).pow(2).mean().sqrt().item()
print(f"constant guess rmse {base:.4f}, model rmse {rmse(model, split, n):.4f}")
