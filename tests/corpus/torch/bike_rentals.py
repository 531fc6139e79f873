import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

torch.manual_seed(3)
rng = np.random.default_rng(3)


def make_rentals(n=3000):
    hour = rng.integers(0, 24, n)
    temp = rng.normal(15, 8, n)
    rain = rng.random(n) < 0.2
    weekend = rng.random(n) < 2 / 7
    wind = rng.gamma(2.0, 4.0, n)
    base = 60 + 90 * np.exp(-((hour - 17) ** 2) / 10) + 70 * np.exp(-((hour - 8) ** 2) / 5) * ~weekend
    count = base + 3 * temp - 45 * rain - 1.2 * wind + rng.normal(0, 12, n)
    frame = pd.DataFrame({"sin_h": np.sin(2 * np.pi * hour / 24), "cos_h": np.cos(2 * np.pi * hour / 24),
                          "temp": temp, "rain": rain.astype(float), "weekend": weekend.astype(float),
                          "wind": wind})
    frame["count"] = count
    return frame


class RentalRegressor:
    def __init__(self, hidden=64, lr=3e-3, max_epochs=60, patience=8, batch_size=64):
        self.hidden = hidden
        self.lr = lr
        self.max_epochs = max_epochs
        self.patience = patience
        self.batch_size = batch_size
        self.loss_fn = nn.MSELoss()

    def _build(self, n_in):
        return nn.Sequential(nn.Linear(n_in, self.hidden), nn.ReLU(),
                             nn.Linear(self.hidden, self.hidden), nn.ReLU(),
                             nn.Linear(self.hidden, 1))

    def _loss(self, xb, yb):
        out = self.net(xb)
        return self.loss_fn(out, yb)

    def fit(self, X, y, X_val, y_val):
        self.net = self._build(X.shape[1])
        opt = torch.optim.Adam(self.net.parameters(), lr=self.lr)
        loader = DataLoader(TensorDataset(X, y), batch_size=self.batch_size, shuffle=True)
        best, bad, best_state = float("inf"), 0, None
        for epoch in range(self.max_epochs):
            self.net.train()
            running = 0.0
            for xb, yb in loader:
                opt.zero_grad()
                loss = self._loss(xb, yb)
                loss.backward()
                opt.step()
                running += loss.item() * len(xb)
            self.net.eval()
            with torch.no_grad():
                val = self._loss(X_val, y_val).item()
            if epoch % 5 == 0:
                print(f"epoch {epoch:3d}  train {running / len(X):.4f}  val {val:.4f}")
            if val < best - 1e-4:
                best, bad = val, 0
                best_state = {k: v.clone() for k, v in self.net.state_dict().items()}
            else:
                bad += 1
                if bad >= self.patience:
                    print("stopping at epoch", epoch)
                    break
        self.net.load_state_dict(best_state)
        return self

    def predict(self, X):
        self.net.eval()
        with torch.no_grad():
            return self.net(X).numpy().ravel()


df = make_rentals()
features = [c for c in df.columns if c != "count"]
train, test = train_test_split(df, test_size=0.2, random_state=0)
train, val = train_test_split(train, test_size=0.2, random_state=0)
sx = StandardScaler().fit(train[features])
mu, sd = train["count"].mean(), train["count"].std()


def tensors(part):
    x = torch.tensor(sx.transform(part[features]), dtype=torch.float32)
    y = torch.tensor(((part["count"] - mu) / sd).values, dtype=torch.float32)
    return x, y


Xtr, ytr = tensors(train)
Xva, yva = tensors(val)
Xte, _ = tensors(test)
model = RentalRegressor().fit(Xtr, ytr, Xva, yva)
pred = model.predict(Xte) * sd + mu
print(f"test MAE {mean_absolute_error(test['count'], pred):.2f}  R2 {r2_score(test['count'], pred):.3f}")
