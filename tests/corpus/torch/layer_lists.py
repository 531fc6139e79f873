import torch
import torch.nn as nn


class Stack(nn.Module):
    def __init__(self, sizes=(10, 32, 32, 2)):
        super().__init__()
        self.layers = []
        for a, b in zip(sizes[:-1], sizes[1:]):
            self.layers.append(nn.Linear(a, b))

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = torch.relu(layer(x))
        return self.layers[-1](x)


torch.manual_seed(0)
x = torch.randn(600, 10)
y = (x.sum(1) > 0).long()
net = Stack()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(10):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(epoch, loss.item())
