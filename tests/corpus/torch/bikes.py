import math
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split

torch.manual_seed(5)

# hourly bike rentals: day rhythm, week rhythm, noise
hours = torch.arange(24 * 7 * 14).float()
rentals = 1.2 * torch.sin(2 * math.pi * hours / 24) + 0.6 * torch.sin(2 * math.pi * hours / 168 + 1)
rentals = rentals + 0.15 * torch.randn(len(hours))
rentals = (rentals - rentals.mean()) / rentals.std()


class Windows(Dataset):
    def __init__(self, series, length=30):
        self.series, self.length = series, length

    def __len__(self):
        return len(self.series) - self.length

    def __getitem__(self, i):
        return self.series[i:i + self.length].unsqueeze(-1), self.series[i + self.length]


class NextHour(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 1)

    def forward(self, x):
        out, _ = self.rnn(x)
        return self.fc(out[:, -1])


data = Windows(rentals)
train_set, val_set = random_split(data, [len(data) - 400, 400])
train_dl = DataLoader(train_set, batch_size=32, shuffle=True)
val_dl = DataLoader(val_set, batch_size=100)

net = NextHour()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)

for epoch in range(8):
    net.train()
    history = []
    for x, y in train_dl:
        y_hat = net(x)
        loss = torch.mean((y_hat - y) ** 2)
        opt.zero_grad()
        loss.backward()
        opt.step()
        history.append(loss.item())
    print("epoch", epoch, "train mse %.4f" % (sum(history) / len(history)))

net.eval()
with torch.no_grad():
    pairs = [(net(x).flatten(), y) for x, y in val_dl]
y_hat = torch.cat([p for p, _ in pairs])
y = torch.cat([t for _, t in pairs])
print("validation mse %.4f   variance of the target %.4f" % ((y_hat - y).pow(2).mean(), y.var()))
print("first predictions", [round(v, 2) for v in y_hat[:6].tolist()], "truth", [round(v, 2) for v in y[:6].tolist()])
