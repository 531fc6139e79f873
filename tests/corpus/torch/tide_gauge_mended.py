# Tide gauge: next-hour water level from the last 48 hours
import resource

import numpy as np
import torch
import torch.nn as nn

np.random.seed(0)
torch.manual_seed(0)

# %% data
hours = np.arange(24 * 240)
level = (1.6 * np.sin(2 * np.pi * hours / 12.42) + 0.6 * np.sin(2 * np.pi * hours / 12.0 + 0.7)
         + 0.3 * np.sin(2 * np.pi * hours / 25.82) + 0.1 * np.sin(2 * np.pi * hours / 6.21))
surge = np.zeros(len(hours))
for t in range(1, len(hours)):
    surge[t] = 0.97 * surge[t - 1] + np.random.normal(0, 0.05)
level = (level + surge).astype("float32")

cut = 24 * 200
mean, std = level[:cut].mean(), level[:cut].std()
z = torch.from_numpy((level - mean) / std)
LAG = 48


def windows(series):
    w = series.unfold(0, LAG + 1, 1)
    return w[:, :LAG].unsqueeze(-1), w[:, LAG]


x_train, y_train = windows(z[:cut])
x_test, y_test = windows(z[cut:])
print("train", tuple(x_train.shape), "test", tuple(x_test.shape))


# %% model
class TideGRU(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.gru = nn.GRU(1, width, batch_first=True)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        h, _ = self.gru(x)
        return self.out(h[:, -1]).squeeze(-1)


net = TideGRU()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
mse = nn.MSELoss()

# %% training
history = []
for epoch in range(10):
    net.train()
    for idx in torch.randperm(len(x_train)).split(64):
        loss = mse(net(x_train[idx]), y_train[idx])
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
    # follow the error over the whole training set and over the test set after each epoch
    net.eval()
    with torch.no_grad():
        fit = torch.stack([mse(net(xb), yb) for xb, yb in zip(x_train.split(256), y_train.split(256))]).mean()
        test = mse(net(x_test), y_test)
    history.append((fit, test))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"epoch {epoch + 1:2d} train mse {fit.item():.5f} test mse {test.item():.5f} "
          f"test rmse {test.item() ** 0.5 * std * 100:.1f} cm  peak memory {peak:.0f} MB")

# %% summary
best = min(range(len(history)), key=lambda i: history[i][1])
print("best epoch", best + 1, "test mse", history[best][1].item())
naive = mse(x_test[:, -1, 0], y_test)
print(f"last-value forecast: mse {naive.item():.5f}")
