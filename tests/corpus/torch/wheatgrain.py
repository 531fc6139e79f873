import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

torch.manual_seed(1)
X, y = make_classification(n_samples=1800, n_features=16, n_informative=10, n_classes=4,
                           n_clusters_per_class=2, class_sep=1.3, random_state=1)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=1)
sc = StandardScaler().fit(X_train)
X_train = torch.tensor(sc.transform(X_train), dtype=torch.float32)
X_test = torch.tensor(sc.transform(X_test), dtype=torch.float32)
y_train, y_test = torch.tensor(y_train), torch.tensor(y_test)


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.fc1 = nn.Linear(16, 64)
        self.fc2 = nn.Linear(64, 64)
        self.fc3 = nn.Linear(64, 4)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
batch = 30

for epoch in range(20):
    perm = torch.randperm(len(X_train))
    epoch_loss = 0
    for i in range(0, len(X_train), batch):
        idx = perm[i:i + batch]
        out = net(X_train[idx])
        loss = F.cross_entropy(out, y_train[idx])
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
    with torch.no_grad():
        acc = (net(X_test).argmax(1) == y_test).float().mean().item()
    print("epoch", epoch, "loss", round(epoch_loss / (len(X_train) / batch), 4), "test acc", round(acc, 3))
