import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader

np.random.seed(5)
torch.manual_seed(5)

hours = np.arange(3000)
level = 210 + 80 * np.sin(2 * np.pi * hours / 12.42) + 30 * np.sin(2 * np.pi * hours / 25.8 + 1) + 5 * np.random.randn(3000)
split = 2400
mean, std = level[:split].mean(), level[:split].std()
scaled = ((level - mean) / std).astype(np.float32)


class Windows(Dataset):
    def __init__(self, series, length=36):
        self.series, self.length = torch.from_numpy(series), length

    def __len__(self):
        return len(self.series) - self.length

    def __getitem__(self, i):
        return self.series[i:i + self.length].unsqueeze(-1), self.series[i + self.length]


class Forecaster(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        h, _ = self.gru(x)
        return self.out(h[:, -1]).squeeze(-1)


def train(model, loader, optimizer, criterion):
    model.train()
    total = 0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
    return total / len(loader.dataset)


def evaluate(model, loader):
    model.eval()
    errors, naive = [], []
    with torch.no_grad():
        for x, y in loader:
            errors.append((model(x) - y).abs())
            naive.append((x[:, -1, 0] - y).abs())
    return torch.cat(errors).mean().item() * std, torch.cat(naive).mean().item() * std


train_loader = DataLoader(Windows(scaled[:split]), batch_size=64, shuffle=True)
test_loader = DataLoader(Windows(scaled[split:]), batch_size=256)
model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(8):
    mse = train(model, train_loader, optimizer, nn.MSELoss())
    mae, naive = evaluate(model, test_loader)
    print(f"epoch {epoch + 1}  train mse {mse:.4f}  test mae {mae:.1f} cm  (last value: {naive:.1f} cm)")
