import numpy as np
import torch
import torch.nn as nn

np.random.seed(6)
torch.manual_seed(6)


def hull(n):
    x = np.random.uniform(-2, 2, (n, 2)).astype(np.float32)
    y = np.sin(2 * x[:, :1]) + 0.4 * x[:, 1:] ** 2 + 0.08 * np.random.randn(n, 1).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy(y.astype(np.float32))


x_train, y_train = hull(1500)
x_test, y_test = hull(300)
x_far = torch.rand(300, 2) * 2 + 4


class DropoutRegressor(nn.Module):
    def __init__(self, width=96, p=0.05):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, width), nn.ReLU(), nn.Dropout(p),
            nn.Linear(width, width), nn.ReLU(), nn.Dropout(p),
            nn.Linear(width, 1),
        )

    def forward(self, x):
        return self.net(x)


def mc_predict(model, x, samples=40):
    """Monte Carlo dropout (Gal and Ghahramani): dropout stays on, the spread is the uncertainty."""
    model.train()
    with torch.no_grad():
        draws = torch.stack([model(x) for _ in range(samples)])
    return draws.mean(0), draws.std(0)


model = DropoutRegressor()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, weight_decay=1e-5)
for epoch in range(40):
    model.train()
    running = 0.0
    for batch in torch.randperm(len(x_train)).split(50):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x_train[batch]), y_train[batch])
        loss.backward()
        optimizer.step()
        running += loss.item() * len(batch)
    if epoch % 5 == 4:
        mean, spread = mc_predict(model, x_test)
        rmse = (mean - y_test).pow(2).mean().sqrt().item()
        print(f"epoch {epoch + 1} train mse {running / len(x_train):.4f} test rmse {rmse:.3f} "
              f"spread {spread.mean().item():.3f}")

_, near = mc_predict(model, x_test)
_, far = mc_predict(model, x_far)
print(f"spread near the data {near.mean().item():.3f}, far away {far.mean().item():.3f}, y std {y_test.std().item():.3f}")
