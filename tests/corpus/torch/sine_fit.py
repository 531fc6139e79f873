import math

import torch
from torch import nn


class SineNet(nn.Module):
    def __init__(self, width=40):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, t):
        return self.layers(t)


def batches(n_steps, size=64):
    for _ in range(n_steps):
        t = torch.rand(size, 1) * 2 * math.pi
        yield t - math.pi, torch.sin(t)


torch.manual_seed(12)
net = SineNet()
optimiser = torch.optim.Adam(net.parameters(), lr=5e-3)
criterion = nn.MSELoss()
history = []
for i, (t, target) in enumerate(batches(400)):
    optimiser.zero_grad()
    prediction = net(t)
    loss = criterion(prediction, target)
    history.append(loss.item())
    optimiser.step()
    if i % 50 == 0:
        print(f"step {i:4d}  mse {sum(history[-50:]) / len(history[-50:]):.4f}")
