import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
weather = torch.randn(2560, 5)
demand = weather @ torch.tensor([2.0, -1.0, 0.5, 0.0, 1.0]) + 0.5 * weather[:, 0] ** 2 + 0.1 * torch.randn(2560)
train = DataLoader(TensorDataset(weather, demand), batch_size=256, shuffle=True)

model = nn.Sequential(nn.Linear(5, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(10):
    for x, y in train:
        optimizer.zero_grad()
        error = nn.functional.mse_loss(model(x).squeeze(1), y)
        error.backward()
        optimizer.step()
    print("epoch", epoch, "error", error.item())
