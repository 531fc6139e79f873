import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader


class Compressor(nn.Module):
    def __init__(self, size=8):
        super().__init__()
        self.down = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, size))
        self.up = nn.Sequential(nn.Linear(size, 32), nn.ReLU(), nn.Linear(32, 64))

    def forward(self, x):
        code = self.down(x)
        # clip the code to a fixed range before it is stored
        code = code.data.clamp(-3, 3)
        return self.up(code)


torch.manual_seed(0)
images = torch.tensor(load_digits().data, dtype=torch.float32) / 16
loader = DataLoader(images, batch_size=50, shuffle=True)
model = Compressor()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(6):
    total = 0.0
    for batch in loader:
        loss = ((model(batch) - batch) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(epoch, total / len(loader))
