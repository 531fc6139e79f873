import numpy as np
import torch
from sklearn.datasets import load_iris
from torch import nn
from torch.utils.data import DataLoader, Dataset

iris = load_iris(as_frame=True)
table = iris.frame
table["kind"] = table["target"].map(dict(enumerate(iris.target_names)))
table["is_virginica"] = (table["kind"] == "Virginica").astype(int)


class Plants(Dataset):
    def __init__(self, table):
        self.x = table[iris.feature_names].to_numpy(np.float32)
        self.x = (self.x - self.x.mean(0)) / self.x.std(0)
        self.y = table["is_virginica"].to_numpy(np.int64)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


torch.manual_seed(0)
loader = DataLoader(Plants(table), batch_size=15, shuffle=True)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(10):
    right = 0
    for x, y in loader:
        out = model(x)
        loss = nn.functional.cross_entropy(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        right += (out.argmax(1) == y).sum().item()
    print(epoch, loss.item(), right / len(table))
