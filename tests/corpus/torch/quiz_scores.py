from sklearn.datasets import load_wine
from sklearn.metrics import accuracy_score
from sklearn.preprocessing import StandardScaler
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

wine = load_wine()
x = torch.tensor(StandardScaler().fit_transform(wine.data), dtype=torch.float32)
y = torch.tensor(wine.target)
order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
train, held = order[:130], order[130:]
loader = DataLoader(TensorDataset(x[train], y[train]), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(13, 24), nn.ReLU(), nn.Linear(24, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)


def report(epoch):
    model.eval()
    with torch.no_grad():
        outputs = model(x[held])
    score = accuracy_score(y[held].numpy(), outputs.numpy())
    model.train()
    print(f"epoch {epoch}: accuracy {score:.3f}")


for epoch in range(8):
    for inputs, targets in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), targets).backward()
        optimizer.step()
    report(epoch)
