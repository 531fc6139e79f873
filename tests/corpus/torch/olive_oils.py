import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

np.random.seed(2)
torch.manual_seed(2)

regions = ["Apulia", "Calabria", "Sicily", "Sardinia", "Liguria", "Umbria"]
fatty_acids = 8
profile = np.random.randn(len(regions), fatty_acids) * 1.2
y = np.random.randint(0, len(regions), 572)
X = profile[y] + np.random.randn(572, fatty_acids) * 0.8
X[:, 0] *= 100
X[:, 3] = X[:, 3] * 300 + 7000

train_n = 384
mean, std = X[:train_n].mean(0), X[:train_n].std(0)
X = torch.tensor((X - mean) / std, dtype=torch.float32)
y = torch.tensor(y)
train_ds = TensorDataset(X[:train_n], y[:train_n])
train_loader = DataLoader(train_ds, batch_size=64, shuffle=True)

model = nn.Sequential(
    nn.Linear(fatty_acids, 32),
    nn.GELU(),
    nn.Linear(32, 32),
    nn.GELU(),
    nn.Linear(32, len(regions)),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
accum_steps = 8

for epoch in range(40):
    model.train()
    epoch_loss = 0
    for i, (xb, yb) in enumerate(train_loader):
        loss = criterion(model(xb), yb)
        (loss / accum_steps).backward()
        if (i + 1) % accum_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
        epoch_loss += loss.item()

    if (epoch + 1) % 5 == 0:
        model.eval()
        with torch.no_grad():
            acc = (model(X[train_n:]).argmax(1) == y[train_n:]).float().mean().item()
        print(f"epoch {epoch + 1:3d} | loss {epoch_loss / len(train_loader):.4f} | test accuracy {acc:.3f}")
