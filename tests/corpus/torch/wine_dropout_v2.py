import torch
from sklearn.datasets import load_wine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)
raw = load_wine()
X = torch.tensor(raw.data, dtype=torch.float32)
X = (X - X.mean(0)) / X.std(0)
full = TensorDataset(X, torch.tensor(raw.target))
train_set, test_set = random_split(full, [130, 48])
train_loader = DataLoader(train_set, batch_size=13, shuffle=True)
test_loader = DataLoader(test_set, batch_size=48)


class WineNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(13, 64)
        self.drop = nn.Dropout(p=0.5)
        self.fc2 = nn.Linear(64, 3)

    def forward(self, x):
        return self.fc2(self.drop(torch.relu(self.fc1(x))))


model = WineNet()
opt = torch.optim.Adam(model.parameters(), lr=0.005)
ce = nn.CrossEntropyLoss()
for epoch in range(15):
    model.train()
    for x, y in train_loader:
        opt.zero_grad()
        loss = ce(model(x), y)
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        for x, y in test_loader:
            scores = model(x)
            print(epoch, "test loss", ce(scores, y).item(), "test accuracy", (scores.argmax(1) == y).float().mean().item())
