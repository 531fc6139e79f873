import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def blobs(n):
    x = 0.5 * torch.randn(n, 1, 14, 14)
    y = torch.randint(0, 4, (n,))
    for i, k in enumerate(y.tolist()):
        r, c = (k // 2) * 7, (k % 2) * 7
        x[i, 0, r + 1:r + 6, c + 1:c + 6] += 0.8
    return x * 3 + 5, y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.Flatten(), nn.Dropout(0.3), nn.Linear(24 * 49, 4))

    def forward(self, x):
        return self.body(x)


def validate(model, loader):
    model.eval()
    n = 0
    with torch.no_grad():
        for x, y in loader:
            n += (model(x).argmax(1) == y).sum().item()
    return n / len(loader.dataset)


torch.manual_seed(0)
train = DataLoader(TensorDataset(*blobs(600)), batch_size=30, shuffle=True)
val = DataLoader(TensorDataset(*blobs(200)), batch_size=100)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
loss_fn = nn.CrossEntropyLoss()
print("before:", validate(model, val))
for epoch in range(5):
    model.train()
    for x, y in train:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item(), validate(model, val))
