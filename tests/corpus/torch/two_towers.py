import torch
from torch import nn
import torch.nn.functional as F


class Towers(nn.Module):
    def __init__(self):
        super().__init__()
        self.users = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 16))
        self.items = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 16))
        self.scale = nn.Parameter(torch.tensor(1.0))
        self.bias = nn.Parameter(torch.tensor(0.0))

    def forward(self, user, item):
        u = F.normalize(self.users(user), dim=1)
        v = F.normalize(self.items(item), dim=1)
        similarity = torch.tensor((u * v).sum(1).tolist())
        return self.scale * similarity + self.bias


torch.manual_seed(6)
mix = torch.randn(20, 30)
users, items = torch.randn(2000, 20), torch.randn(2000, 30)
clicked = (((users @ mix) * items).sum(1) > 0).float()

model = Towers()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(10):
    for rows in torch.randperm(1600).split(50):
        logits = model(users[rows], items[rows])
        loss = F.binary_cross_entropy_with_logits(logits, clicked[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        hit = ((model(users[1600:], items[1600:]) > 0).float() == clicked[1600:]).float().mean()
    print(epoch, loss.item(), hit.item())
