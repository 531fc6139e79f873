import random
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

random.seed(2)
torch.manual_seed(2)

CLASSES = ["chanterelle", "elderberry", "nettle", "sorrel", "truffle"]
HUES = torch.tensor([[0.9, 0.6, 0.1], [0.3, 0.1, 0.5], [0.1, 0.6, 0.2], [0.3, 0.7, 0.3], [0.35, 0.25, 0.2]])


def photo(k):
    img = torch.rand(3, 20, 20) * 0.5
    cx, cy, r = random.randint(7, 12), random.randint(7, 12), random.randint(4, 6)
    yy, xx = torch.meshgrid(torch.arange(20), torch.arange(20), indexing="ij")
    if k in (0, 1, 4):
        blob = (xx - cx) ** 2 + (yy - cy) ** 2 < r * r
    else:
        blob = ((xx - cx).abs() + (yy - cy).abs() * 2) < r + 3
    img[:, blob] = HUES[k][:, None] + 0.12 * torch.randn(3, int(blob.sum()))
    return (img - 0.35) / 0.25


class ForageFolder(Dataset):
    def __init__(self, per_class):
        self.images, self.targets = [], []
        for k, name in enumerate(CLASSES):
            for _ in range(per_class):
                self.images.append(photo(k))
                self.targets.append(k)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i], self.targets[i]


trainloader = DataLoader(ForageFolder(300), batch_size=20)
testloader = DataLoader(ForageFolder(60), batch_size=50)

model = nn.Sequential(
    nn.Conv2d(3, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(24 * 5 * 5, 48), nn.ReLU(), nn.Linear(48, len(CLASSES)),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)

for epoch in range(6):
    model.train()
    running_loss = 0.0
    for inputs, labels in trainloader:
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    model.eval()
    correct = total = 0
    with torch.no_grad():
        for inputs, labels in testloader:
            predicted = model(inputs).argmax(1)
            total += labels.size(0)
            correct += (predicted == labels).sum().item()
    print(f"epoch {epoch + 1} loss {running_loss / len(trainloader):.3f} accuracy {100 * correct / total:.1f}%")
