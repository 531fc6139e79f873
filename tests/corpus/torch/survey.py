# Crowd-sourced answers: every training row was labelled by one volunteer who is right about two times in three.
# The test rows were labelled by experts.
import numpy as np
import torch
import torch.nn as nn

rng = np.random.default_rng(9)
torch.manual_seed(9)


def people(n):
    age = rng.normal(45, 15, n)
    income = rng.lognormal(10, 0.4, n)
    visits = rng.poisson(4, n)
    region = rng.integers(0, 4, n)
    taste = 0.05 * (age - 45) + 1.2 * (np.log(income) - 10) - 0.35 * (visits - 4) + np.array([-1, 0.5, 1, -0.5])[region]
    return np.column_stack([age, np.log(income), visits]), region, (taste > 0).astype(np.float32)


num, region, truth = people(8000)
test_num, test_region, test_truth = people(2000)
answers = np.where(rng.random(8000) < 0.34, 1 - truth, truth)

mu, sd = num.mean(0), num.std(0)
num, test_num = [torch.tensor((a - mu) / sd, dtype=torch.float32) for a in (num, test_num)]
region, test_region = torch.from_numpy(region), torch.from_numpy(test_region)
target = torch.from_numpy(answers).float()
expert = torch.from_numpy(test_truth)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.region = nn.Embedding(4, 3)
        self.body = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, num, region):
        return self.body(torch.cat([num, self.region(region)], dim=1)).squeeze(1)


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3, weight_decay=1e-4)
loss_fn = nn.BCEWithLogitsLoss()

for epoch in range(1, 26):
    net.train()
    order, total = torch.randperm(len(target)), 0.0
    for idx in order.split(200):
        loss = loss_fn(net(num[idx], region[idx]), target[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    net.eval()
    with torch.no_grad():
        fit = ((net(num, region) > 0).float() == target).float().mean().item()
        acc = ((net(test_num, test_region) > 0).float() == expert).float().mean().item()
    if epoch % 5 == 0:
        print(f"epoch {epoch:2d}  loss {total / len(target):.4f}  agrees with volunteers {fit:.3f}  with experts {acc:.3f}")
