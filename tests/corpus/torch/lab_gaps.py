import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

rng = np.random.default_rng(3)
torch.manual_seed(3)

table = load_breast_cancer().data.astype(np.float32)
train, test = train_test_split(table, test_size=0.3, random_state=3)
centre, spread = train.mean(0), train.std(0)
train, test = (train - centre) / spread, (test - centre) / spread


def punch_holes(rows, share):
    holed = rows.copy()
    holed[rng.random(rows.shape) < share] = np.nan
    return torch.from_numpy(holed)


train_seen = punch_holes(train, 0.15)
test_seen = punch_holes(test, 0.25)
test_full = torch.from_numpy(test)


class GapFiller(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2 * columns, 96), nn.SiLU(), nn.Linear(96, 24), nn.SiLU(),
            nn.Linear(24, 96), nn.SiLU(), nn.Linear(96, columns),
        )

    def forward(self, rows, known):
        filled = torch.where(known, rows, torch.zeros_like(rows))
        return self.net(torch.cat([filled, known.float()], dim=1))


def hidden_loss(pred, rows, where):
    return (pred[where] - rows[where]).pow(2).sum() / where.sum().clamp(min=1)


model = GapFiller(table.shape[1])
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
print("missing cells in the training table:", torch.isnan(train_seen).sum().item())

for epoch in range(300):
    model.train()
    total = 0.0
    for idx in torch.randperm(len(train_seen)).split(64):
        rows = train_seen[idx]
        present = ~torch.isnan(rows)
        hide = present & (torch.rand(rows.shape) < 0.25)
        known = present & ~hide
        loss = hidden_loss(model(rows, known), rows, hide)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    if epoch % 50 == 49:
        print(f"epoch {epoch + 1} hidden-cell mse {total / len(train_seen):.4f}")

model.eval()
with torch.no_grad():
    known = ~torch.isnan(test_seen)
    pred = model(test_seen, known)
    mse = hidden_loss(pred, test_full, ~known).item()
    base = test_full[~known].pow(2).mean().item()
print(f"test mse on missing cells {mse:.4f}, column means {base:.4f}")
