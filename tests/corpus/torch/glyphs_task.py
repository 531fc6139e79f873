# digits with a small convolutional net
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score, confusion_matrix
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
images, target = load_digits(return_X_y=True)
images = torch.tensor(images, dtype=torch.float32).view(-1, 1, 8, 8) / 16
target = torch.tensor(target, dtype=torch.long)
x_train, x_test, y_train, y_test = train_test_split(images, target, test_size=0.3, random_state=1, stratify=target)
loader = DataLoader(TensorDataset(x_train, y_train), batch_size=32, shuffle=True, drop_last=True)


class Glyphs(nn.Module):
    def __init__(self):
        super().__init__()
        blocks = []
        for a, b in [(1, 16), (16, 32)]:
            blocks += [nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)]
        self.features = nn.Sequential(*blocks)
        self.heads = nn.ModuleList([nn.Linear(128, 10) for _ in range(3)])
        self.drop = nn.Dropout(0.3)

    def forward(self, x):
        h = self.drop(self.features(x).flatten(1))
        return torch.stack([head(h) for head in self.heads]).mean(0)


model = Glyphs()
loss_fn = nn.CrossEntropyLoss(label_smoothing=0.05)
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
sched = torch.optim.lr_scheduler.StepLR(opt, step_size=5, gamma=0.3)

for epoch in range(12):
    model.train()
    running = 0.0
    for x, y in loader:
        opt.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        opt.step()
        running += loss.item()
    sched.step()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1}: loss {running / len(loader):.3f}")

model.eval()
with torch.no_grad():
    pred = model(x_test).argmax(1)
print("accuracy", round(accuracy_score(y_test, pred), 3))
print(confusion_matrix(y_test, pred))
