import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X = torch.randn(2000, 30)
T = (X @ torch.randn(30, 6) > 2.0).float()
loader = DataLoader(TensorDataset(X, T), batch_size=40, shuffle=True)


class Tagger(nn.Module):
    def __init__(self, inputs, tags):
        super().__init__()
        self.hidden = nn.Linear(inputs, 64)
        self.tags = nn.Linear(64, tags)
        self.act = nn.Sigmoid()

    def forward(self, x):
        return self.act(self.tags(torch.relu(self.hidden(x))))


tagger = Tagger(30, 6)
optim = torch.optim.Adam(tagger.parameters(), lr=1e-3)
criterion = nn.BCEWithLogitsLoss()
for epoch in range(6):
    for x, t in loader:
        optim.zero_grad()
        loss = criterion(tagger(x), t)
        loss.backward()
        optim.step()
    with torch.no_grad():
        found = tagger(X) > 0.5
        print(epoch, loss.item(), "micro accuracy", (found == T.bool()).float().mean().item())
