import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
N, K = 400, 3
points, classes = [], []
for k in range(K):
    r = torch.linspace(0.1, 1, N)
    a = torch.linspace(k * 2.1, k * 2.1 + 3, N) + 0.1 * torch.randn(N)
    points.append(torch.stack([r * a.sin(), r * a.cos()], 1))
    classes.append(torch.full((N,), k))
points, classes = torch.cat(points), torch.cat(classes)
loader = DataLoader(TensorDataset(points, classes), batch_size=48, shuffle=True)


class Spiral(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(2, 64)
        self.fc2 = nn.Linear(64, K)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        return F.log_softmax(self.fc2(x), dim=1)


model = Spiral()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(15):
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.nll_loss(model(x), y)
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print(epoch, loss.item(), (model(points).argmax(1) == classes).float().mean().item())
