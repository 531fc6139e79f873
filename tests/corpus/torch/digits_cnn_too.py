import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

# %% data
digits = load_digits()
X = digits.images.astype("float32")
y = digits.target
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0, stratify=y)

# standardise every pixel with the statistics of the training images
mean = X_train.mean(axis=0)
std = X_train.std(axis=0)
X_train = (X_train - mean) / std
X_test = (X_test - mean) / std

X_train = torch.from_numpy(X_train).unsqueeze(1)
X_test = torch.from_numpy(X_test).unsqueeze(1)
y_train = torch.from_numpy(y_train)
y_test = torch.from_numpy(y_test)
print(X_train.shape, y_train.shape)


# %% model
class DigitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.fc1 = nn.Linear(32 * 2 * 2, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = x.flatten(1)
        x = F.relu(self.fc1(x))
        return self.fc2(x)


torch.manual_seed(0)
net = DigitNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)

# %% training
history = []
for epoch in range(10):
    net.train()
    order = torch.randperm(len(X_train))
    running = 0.0
    for start in range(0, len(order), 64):
        idx = order[start:start + 64]
        optimizer.zero_grad()
        out = net(X_train[idx])
        loss = F.cross_entropy(out, y_train[idx])
        loss.backward()
        optimizer.step()
        running += loss.item() * len(idx)

    net.eval()
    with torch.no_grad():
        pred = net(X_test).argmax(dim=1)
    acc = (pred == y_test).float().mean().item()
    history.append((running / len(order), acc))
    print("epoch {:2d}   loss {:.4f}   test accuracy {:.3f}".format(epoch + 1, *history[-1]))

# %% which digits are confused
for d in range(10):
    rows = y_test == d
    print(d, torch.bincount(pred[rows], minlength=10).tolist())
