import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from sklearn.datasets import make_friedman1
from sklearn.metrics import mean_absolute_error, r2_score

torch.manual_seed(11)
X, y = make_friedman1(n_samples=3000, n_features=10, noise=0.5, random_state=11)
X = (X - X[:2400].mean(0)) / X[:2400].std(0)
mu, sd = y[:2400].mean(), y[:2400].std()

to_t = lambda a: torch.as_tensor(a, dtype=torch.float32)
train = DataLoader(TensorDataset(to_t(X[:2400]), to_t((y[:2400] - mu) / sd)), batch_size=64, shuffle=True)
test = DataLoader(TensorDataset(to_t(X[2400:]), to_t((y[2400:] - mu) / sd)), batch_size=64)


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(10, 128), nn.ReLU(), nn.Dropout(0.4),
            nn.Linear(128, 128), nn.ReLU(), nn.Dropout(0.4),
        )
        self.head = nn.Linear(128, 1)

    def forward(self, x):
        return self.head(self.body(x)).squeeze(1)


def predict(model, loader):
    model.eval
    preds, targets = [], []
    with torch.no_grad():
        for xb, yb in loader:
            preds.append(model(xb) * sd + mu)
            targets.append(yb * sd + mu)
    return torch.cat(preds).numpy(), torch.cat(targets).numpy()


model = Regressor()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-4)
loss_fn = nn.MSELoss()

for epoch in range(60):
    model.train()
    running = []
    for xb, yb in train:
        opt.zero_grad()
        loss = loss_fn(model(xb), yb)
        loss.backward()
        opt.step()
        running.append(loss.item())
    if (epoch + 1) % 10 == 0:
        p, t = predict(model, test)
        print(f"epoch {epoch + 1}: mse {np.mean(running):.3f} | test MAE {mean_absolute_error(t, p):.3f} R2 {r2_score(t, p):.3f}")

first, t = predict(model, test)
print("first five:", np.round(first[:5], 2), "true:", np.round(t[:5], 2))
