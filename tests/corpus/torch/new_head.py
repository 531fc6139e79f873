import torch
import torch.nn as nn
import torch.optim as optim
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.manual_seed(42)


class ConvNet(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
        )
        self.classifier = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, num_classes))

    def forward(self, x):
        return self.classifier(self.features(x))


def train_model(model, optimizer, x, y, x_val, y_val, num_epochs, tag):
    criterion = nn.CrossEntropyLoss()
    for epoch in range(num_epochs):
        model.train()
        running_loss = 0.0
        for idx in torch.randperm(len(x)).split(32):
            optimizer.zero_grad()
            outputs = model(x[idx])
            loss = criterion(outputs, y[idx])
            loss.backward()
            optimizer.step()
            running_loss += loss.item() * len(idx)
        model.eval()
        with torch.no_grad():
            acc = (model(x_val).argmax(1) == y_val).float().mean()
        print(f"{tag} {epoch + 1}/{num_epochs} loss {running_loss / len(x):.4f} val acc {acc:.4f}")


digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32)[:, None] / 16
target = torch.tensor(digits.target)

# source task: the digits 0-5
src = target < 6
xs, xs_val, ys, ys_val = train_test_split(images[src], target[src], test_size=0.2, random_state=0)
model = ConvNet(6)
train_model(model, optim.Adam(model.parameters(), lr=1e-3), xs, ys, xs_val, ys_val, 10, "pretrain")

# new task: the digits 6-9, features stay as they are
dst = ~src
xd, xd_val, yd, yd_val = train_test_split(images[dst], target[dst] - 6, test_size=0.2, random_state=0)
for param in model.features.parameters():
    param.requires_grad = False
optimizer_ft = optim.SGD(filter(lambda p: p.requires_grad, model.parameters()), lr=0.01, momentum=0.9)
model.classifier = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 4))

train_model(model, optimizer_ft, xd, yd, xd_val, yd_val, 15, "finetune")
