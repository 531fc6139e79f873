import torch
from sklearn.datasets import make_moons
from torch import nn

X, y = make_moons(800, noise=0.15, random_state=0)
X = torch.tensor(X, dtype=torch.float32)
y = torch.tensor(y, dtype=torch.float32)
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
loss_fn = nn.BCEWithLogitsLoss()
losses = []
for epoch in range(10):
    for i in range(0, 600, 30):
        out = model(X[i:i + 30]).squeeze(1)
        loss = loss_fn(out, y[i:i + 30])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        acc = ((model(X[600:]).squeeze(1) > 0) == (y[600:] > 0.5)).float().mean()
    print(epoch, sum(losses[-20:]) / 20, acc.item())
