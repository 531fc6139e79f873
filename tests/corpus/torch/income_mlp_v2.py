import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
n = 2000
age = torch.randint(18, 80, (n,)).float()
income = 20_000 + 80_000 * torch.rand(n)
debt = 50_000 * torch.rand(n)
score = (income - income.mean()) / income.std() - (debt - debt.mean()) / debt.std() + 0.02 * (age - 45)
approved = (score > 0).long()
X = torch.stack([age, income, debt], dim=1)
X = (X - X.mean(0)) / X.std(0)

loader = DataLoader(TensorDataset(X[:1600], approved[:1600]), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

for epoch in range(6):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        accuracy = (model(X[1600:]).argmax(1) == approved[1600:]).float().mean().item()
    print(epoch, loss.item(), accuracy)
