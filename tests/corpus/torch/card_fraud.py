import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(7)
n = 4000
fraud = rng.random(n) < 0.06
x = rng.normal(size=(n, 12)).astype("float32")
x[fraud, :4] += 1.4
x[fraud, 5] -= 1.0
y = fraud.astype("int64")
cut = 3200

train_loader = DataLoader(TensorDataset(torch.from_numpy(x[:cut]), torch.from_numpy(y[:cut])), batch_size=64, shuffle=True)
x_val, y_val = torch.from_numpy(x[cut:]), torch.from_numpy(y[cut:])

torch.manual_seed(7)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 2))
share = y[:cut].mean()
criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, float((1 - share) / share)]))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(8):
    model.train()
    running = 0.0
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        running += loss.item()
    model.eval()
    with torch.no_grad():
        flagged = model(x_val).argmax(dim=1)
    hit = ((flagged == 1) & (y_val == 1)).sum().item()
    recall = hit / max(1, (y_val == 1).sum().item())
    precision = hit / max(1, (flagged == 1).sum().item())
    print(f"{epoch} loss={running / len(train_loader):.3f} recall={recall:.2f} precision={precision:.2f}")
