import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X = torch.randn(6000, 32)
Y = torch.stack([X[:, :8].sum(1), X[:, 8:16].prod(1), (X[:, 16:] ** 2).mean(1)], 1)
loader = DataLoader(TensorDataset(X, Y), batch_size=32, shuffle=True)


class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.lin = nn.Linear(n, n)
        self.norm = nn.LayerNorm(n)

    def forward(self, x):
        return x + torch.relu(self.lin(self.norm(x)))


model = nn.Sequential(nn.Linear(32, 64), Block(64), Block(64), nn.Linear(64, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.MSELoss()

total_loss = 0
for epoch in range(3):
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total_loss += loss.item()
    print(f"epoch {epoch}: average loss so far {total_loss / ((epoch + 1) * len(loader)):.4f}")
