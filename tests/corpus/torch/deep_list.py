import torch
from torch import nn
import torch.nn.functional as F


class Deep(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.stem = nn.Linear(8, sizes[0])
        self.stages = [nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])]
        self.head = nn.Linear(sizes[-1], 2)

    def forward(self, x):
        x = F.relu(self.stem(x))
        for stage in self.stages:
            x = F.relu(stage(x))
        return self.head(x)


torch.manual_seed(0)
inputs = torch.randn(1200, 8)
target = (inputs[:, 0] * inputs[:, 1] + inputs[:, 2] > 0).long()
model = Deep([32, 32, 32])
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(8):
    for pick in torch.randperm(1000).split(40):
        loss = F.cross_entropy(model(inputs[pick]), target[pick])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item(), (model(inputs[1000:]).argmax(1) == target[1000:]).float().mean().item())
