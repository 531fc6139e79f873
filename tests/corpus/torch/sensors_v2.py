import torch
import torch.nn as nn

torch.manual_seed(4)
readings = torch.randn(1200, 16) * torch.linspace(0.5, 20, 16) + 40
readings[:, 7] = 21.0  # heater, always on in this plant
state = (readings[:, 2] - 40 > 0).long()
train_x, train_y = readings[:1000], state[:1000]
test_x, test_y = readings[1000:], state[1000:]

mean, std = train_x.mean(0), train_x.std(0) + 1e-6
train_x = (train_x - mean) / std
test_x = (test_x - mean) / std


def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
for epoch in range(10):
    for i in range(0, 1000, 50):
        optimizer.zero_grad()
        loss = criterion(model(train_x[i:i + 50]), train_y[i:i + 50])
        loss.backward()
        optimizer.step()
    print(epoch, loss.item(), accuracy(model, test_x, test_y))
