import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def binary_loss(p, t):
    return -(t * torch.log(p + 1e-7) + (1 - t) * torch.log(1 - p + 1e-7)).mean()


class Logistic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 1), nn.Sigmoid())

    def forward(self, x):
        return self.net(x).squeeze(-1)


torch.manual_seed(0)
x = torch.randn(2000, 10)
t = (x @ torch.randn(10) > 0).float()
x = x * 6
loader = DataLoader(TensorDataset(x, t), batch_size=50, shuffle=True)
model = Logistic()
opt = torch.optim.Adam(model.parameters(), lr=0.03)
for epoch in range(10):
    for xb, tb in loader:
        p = model(xb)
        loss = binary_loss(p, tb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
