import torch
import torch.nn as nn
import torch.optim as optim
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=7, stratify=y)
sc = StandardScaler()
X_train = torch.tensor(sc.fit_transform(X_train), dtype=torch.float32)
X_test = torch.tensor(sc.transform(X_test), dtype=torch.float32)
y_train = torch.tensor(y_train, dtype=torch.float32).view(-1, 1)
y_test = torch.tensor(y_test, dtype=torch.float32).view(-1, 1)

train_loader = DataLoader(TensorDataset(X_train, y_train), batch_size=32, shuffle=True)


class BinaryClassifier(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.fc1 = nn.Linear(n_in, 64)
        self.bn1 = nn.BatchNorm1d(64)
        self.fc2 = nn.Linear(64, 32)
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(32, 1)
        self.act = nn.ReLU()
        self.prob = nn.Softmax(dim=1)

    def forward(self, x):
        x = self.act(self.bn1(self.fc1(x)))
        x = self.drop(self.act(self.fc2(x)))
        return self.prob(self.out(x))


model = BinaryClassifier(X_train.shape[1]).to(device)
criterion = nn.BCELoss()
optimizer = optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(40):
    model.train()
    running, correct = 0.0, 0
    for xb, yb in train_loader:
        xb, yb = xb.to(device), yb.to(device)
        optimizer.zero_grad()
        p = model(xb)
        loss = criterion(p, yb)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(xb)
        correct += ((p > 0.5).float() == yb).sum().item()
    if epoch % 5 == 0:
        n = len(train_loader.dataset)
        print(f"epoch {epoch:3d} loss {running / n:.4f} acc {correct / n:.4f}")

model.eval()
with torch.no_grad():
    pred = (model(X_test.to(device)) > 0.5).float().cpu()
print("test accuracy:", (pred == y_test).float().mean().item())
