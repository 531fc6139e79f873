import torch
import torch.nn as nn
import torch.optim as optim
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset, random_split
from sklearn.datasets import load_digits

torch.manual_seed(0)

data = load_digits()
imgs = (torch.tensor(data.images, dtype=torch.float32) / 16.0 - 0.3) / 0.37
full = TensorDataset(imgs.unsqueeze(1), torch.tensor(data.target))
train_set, val_set = random_split(full, [1500, len(full) - 1500])
train_dl = DataLoader(train_set, batch_size=32, shuffle=True)
val_dl = DataLoader(val_set, batch_size=128)

model = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(),
    nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(),
    nn.Linear(32 * 4 * 4, 64), nn.ReLU(),
    nn.Linear(64, 10),
)
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
scheduler = StepLR(optimizer, step_size=7, gamma=0.1)


def train_one_epoch():
    model.train()
    total_loss, hits = 0.0, 0
    for x, t in train_dl:
        optimizer.zero_grad()
        out = model(x)
        loss = criterion(out, t)
        loss.backward()
        optimizer.step()
        scheduler.step()
        total_loss += loss.item() * x.size(0)
        hits += (out.argmax(1) == t).sum().item()
    return total_loss / len(train_set), hits / len(train_set)


@torch.no_grad()
def validate():
    model.eval()
    return sum((model(x).argmax(1) == t).sum().item() for x, t in val_dl) / len(val_set)


for epoch in range(15):
    loss, acc = train_one_epoch()
    print(f"Epoch {epoch + 1}/15  loss: {loss:.4f}  train acc: {acc:.3f}  val acc: {validate():.3f}")
