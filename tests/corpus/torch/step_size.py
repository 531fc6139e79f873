import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
d = load_digits()
X, Y = torch.tensor(d.data, dtype=torch.float32) / 16, torch.tensor(d.target)


class MLP(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(i, o) for i, o in zip(sizes, sizes[1:])])

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = torch.relu(layer(x))
        return self.layers[-1](x)


config = {"lr": 8.0, "epochs": 4, "batch": 32, "sizes": (64, 100, 50, 10)}
net = MLP(config["sizes"])
sgd = torch.optim.SGD(net.parameters(), lr=config["lr"])
loader = DataLoader(TensorDataset(X[:1500], Y[:1500]), batch_size=config["batch"], shuffle=True)
ce = nn.CrossEntropyLoss()
for epoch in range(config["epochs"]):
    for bx, by in loader:
        sgd.zero_grad()
        loss = ce(net(bx), by)
        loss.backward()
        sgd.step()
    net.eval()
    with torch.no_grad():
        print(epoch, loss.item(), (net(X[1500:]).argmax(1) == Y[1500:]).float().mean().item())
    net.train()
