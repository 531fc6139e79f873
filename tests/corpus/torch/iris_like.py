from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

iris = load_iris()
X = torch.tensor(StandardScaler().fit_transform(iris.data), dtype=torch.float32)
y = torch.tensor(iris.target)
loader = DataLoader(TensorDataset(X, y), batch_size=10, shuffle=True)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
loss_function = nn.CrossEntropyLoss()
opt = optim.Adam(model.parameters(), lr=0.01)


def train_one_epoch():
    total = 0.0
    for inputs, targets in loader:
        opt.zero_grad()
        outputs = model(inputs)
        loss = loss_function(outputs, targets)
        loss.backward()
        total += loss.item()
    return total / len(loader)


for epoch in range(20):
    print(f"epoch {epoch + 1}: loss {train_one_epoch():.4f}")
print("accuracy:", (model(X).argmax(1) == y).float().mean().item())
