import numpy as np
import torch
from torch import nn

torch.manual_seed(21)
rng = np.random.default_rng(21)

n_guests, n_dishes, n_days = 200, 80, 7
taste = rng.normal(size=(n_guests, 2))
style = rng.normal(size=(n_dishes, 2))
strict = rng.normal(size=n_guests)
quality = rng.normal(size=n_dishes)
mood = rng.normal(size=n_days)

n = 24000
guest = rng.integers(0, n_guests, n)
dish = rng.integers(0, n_dishes, n)
day = rng.integers(0, n_days, n)
stars = quality[dish] - strict[guest] + 0.7 * (taste[guest] * style[dish]).sum(1) + 0.5 * mood[day] + rng.normal(0, 0.3, n)
stars = (stars - stars.mean()) / stars.std()

cats = torch.from_numpy(np.stack([guest, dish, day], axis=1))
target = torch.from_numpy(stars.astype(np.float32))
cut = 20000


class RatingNet(nn.Module):
    def __init__(self, sizes, dim=12):
        super().__init__()
        self.embeds = [nn.Embedding(size, dim) for size in sizes]
        self.mlp = nn.Sequential(
            nn.Linear(dim * (len(sizes) + 1), 64), nn.ReLU(),
            nn.Linear(64, 32), nn.ReLU(),
            nn.Linear(32, 1),
        )

    def forward(self, c):
        vecs = [emb(c[:, i]) for i, emb in enumerate(self.embeds)]
        vecs.append(vecs[0] * vecs[1])
        return self.mlp(torch.cat(vecs, dim=1)).squeeze(1)


model = RatingNet([n_guests, n_dishes, n_days])
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)
print("weights:", sum(p.numel() for p in model.parameters()))

for epoch in range(12):
    model.train()
    order = torch.randperm(cut)
    total = 0.0
    for i in range(0, cut, 200):
        idx = order[i:i + 200]
        loss = nn.functional.mse_loss(model(cats[idx]), target[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    model.eval()
    with torch.no_grad():
        mse = nn.functional.mse_loss(model(cats[cut:]), target[cut:]).item()
    print(f"epoch {epoch + 1:2d}  train {total / cut:.3f}  held out {mse:.3f}  (variance {target[cut:].var():.3f})")
