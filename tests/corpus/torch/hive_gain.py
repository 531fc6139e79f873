import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)

# daily weight change of a bee hive (kg) from weather and colony data
N = 2500
temp = 12 + 8 * torch.randn(N)
rain = torch.relu(torch.randn(N)) * 4
wind = torch.rand(N) * 10
frames = torch.randint(4, 12, (N,)).float()
bloom = torch.rand(N)
gain = 0.05 * (temp - 12) + 1.2 * bloom * (frames / 8) - 0.15 * rain - 0.05 * wind - 0.1 + 0.1 * torch.randn(N)

X = torch.stack([temp, rain, wind, frames, bloom], dim=1)
X = (X - X.mean(0)) / X.std(0)
y = gain.unsqueeze(1)

train_loader = DataLoader(TensorDataset(X[:2000], y[:2000]), batch_size=50, shuffle=True)
X_val, y_val = X[2000:], y[2000:]


def block(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, n_out), nn.ReLU())


class HiveNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = block(5, 64)
        self.fc2 = block(64, 32)
        self.fc3 = block(32, 1)

    def forward(self, x):
        return self.fc3(self.fc2(self.fc1(x)))


model = HiveNet()
loss_fn = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.002)

for epoch in range(1, 31):
    model.train()
    total = 0
    for xb, yb in train_loader:
        pred = model(xb)
        loss = loss_fn(pred, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 5 == 0:
        model.eval()
        with torch.no_grad():
            val_loss = loss_fn(model(X_val), y_val).item()
        r2 = 1 - val_loss / y_val.var(unbiased=False).item()
        print(f"epoch {epoch} train {total / len(train_loader):.4f} val {val_loss:.4f} r2 {r2:.3f}")
