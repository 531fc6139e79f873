import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import TensorDataset, DataLoader

torch.manual_seed(0)
EPOCHS = 8

data = load_digits()
x = torch.tensor(data.images / 16.0, dtype=torch.float32).unsqueeze(1)
y = torch.tensor(data.target)
idx_tr, idx_te = train_test_split(range(len(y)), test_size=0.25, stratify=data.target, random_state=1)
train_dl = DataLoader(TensorDataset(x[idx_tr], y[idx_tr]), batch_size=32, shuffle=True)
test_dl = DataLoader(TensorDataset(x[idx_te], y[idx_te]), batch_size=256)


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 16, 3, padding=1)
        self.c2 = nn.Conv2d(16, 32, 3, padding=1)
        self.fc = nn.Linear(32 * 4, 10)
        self.drop = nn.Dropout(0.1)

    def forward(self, t):
        t = F.max_pool2d(F.relu(self.c1(t)), 2)
        t = F.max_pool2d(F.relu(self.c2(t)), 2)
        return self.fc(self.drop(t.flatten(1)))


def train_one_epoch(model, loader, optimizer, scheduler):
    model.train()
    running, n = 0.0, 0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
        scheduler.step()
        running += loss.item() * len(yb)
        n += len(yb)
    return running / n


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    hits = sum((model(xb).argmax(1) == yb).sum().item() for xb, yb in loader)
    return hits / len(loader.dataset)


model = ConvNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=5, gamma=0.3)

for epoch in range(EPOCHS):
    loss = train_one_epoch(model, train_dl, optimizer, scheduler)
    print(f"[{epoch + 1}/{EPOCHS}] loss {loss:.4f} test acc {accuracy(model, test_dl):.3f}")
