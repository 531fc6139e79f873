import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(7)


class Digits(Dataset):
    def __init__(self, images, targets):
        self.images, self.targets = images, targets

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        img = torch.tensor(self.images[i], dtype=torch.float32).unsqueeze(0)
        return img / 8.0 - 1.0, int(self.targets[i])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.drop = nn.Dropout(0.25)
        self.fc = nn.Linear(32 * 4 * 4, 10)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return F.log_softmax(self.fc(self.drop(x.flatten(1))), dim=1)


d = load_digits()
Xtr, Xte, ytr, yte = train_test_split(d.images, d.target, test_size=0.25, stratify=d.target, random_state=0)
train_loader = DataLoader(Digits(Xtr, ytr), batch_size=32, shuffle=True)
test_loader = DataLoader(Digits(Xte, yte), batch_size=256)

EPOCHS = 8
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
scheduler = torch.optim.lr_scheduler.OneCycleLR(
    optimizer, max_lr=0.08, epochs=EPOCHS, steps_per_epoch=len(train_loader))

for epoch in range(EPOCHS):
    model.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = F.nll_loss(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
    model.eval()
    test_loss, correct = 0.0, 0
    with torch.no_grad():
        for x, y in test_loader:
            out = model(x)
            test_loss += F.nll_loss(out, y, reduction="sum").item()
            correct += (out.argmax(1) == y).sum().item()
    n = len(test_loader.dataset)
    print(f"epoch {epoch + 1}: test loss {test_loss / n:.4f}, accuracy {correct}/{n} ({correct / n:.1%})")
