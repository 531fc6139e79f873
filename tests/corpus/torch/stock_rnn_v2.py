import torch
from torch import nn

torch.manual_seed(1)
t = torch.arange(0, 600, 0.25)
series = torch.sin(0.3 * t) + 0.3 * torch.sin(1.1 * t) + 0.05 * torch.randn(len(t))


class Forecaster(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.cell = nn.GRU(1, hidden, batch_first=True)
        self.read = nn.Linear(hidden, 1)

    def forward(self, x, h):
        out, h = self.cell(x, h)
        return self.read(out), h


model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
loss_fn = nn.MSELoss()
window = 40
for epoch in range(3):
    hidden = torch.zeros(1, 1, 24)
    for begin in range(0, len(series) - window - 1, window):
        x = series[begin:begin + window].view(1, -1, 1)
        y = series[begin + 1:begin + window + 1].view(1, -1, 1)
        prediction, hidden = model(x, hidden.detach())
        loss = loss_fn(prediction, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
