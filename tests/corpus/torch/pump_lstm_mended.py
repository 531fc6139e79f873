import numpy as np
import torch
from torch import nn
from sklearn.metrics import balanced_accuracy_score
from sklearn.preprocessing import StandardScaler

rng = np.random.default_rng(31)
torch.manual_seed(31)
CHANNELS = ["pressure_pa", "flow_l_min", "speed_rpm", "temp_k"]


def simulate(n, steps=30):
    state = rng.integers(0, 3, n)
    x = np.zeros((n, steps, 4))
    t = np.arange(steps)
    for i, s in enumerate(state):
        p = 101325 + rng.normal(0, 300) + rng.normal(0, 120, steps)
        f = 240 + rng.normal(0, 6) + rng.normal(0, 3, steps)
        v = 1480 + rng.normal(0, 10) + rng.normal(0, 6, steps)
        k = 335 + rng.normal(0, 1.5) + rng.normal(0, 0.5, steps)
        if s == 1:
            f -= 0.7 * t
            p -= 14 * t
        elif s == 2:
            v += 12 * np.sin(t * 1.1)
            k += 0.15 * t
        x[i] = np.stack([p, f, v, k], axis=1)
    return x, state


class SequenceClassifier(nn.Module):
    def __init__(self, features, hidden, classes):
        super().__init__()
        self.lstm = nn.LSTM(features, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, classes)

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.fc(out[:, -1])


class PumpMonitor:
    def __init__(self, hidden=32, lr=5e-3, epochs=25, batch=50, patience=12):
        self.hidden, self.lr, self.epochs, self.batch, self.patience = hidden, lr, epochs, batch, patience
        self.scaler = StandardScaler()

    def _prepare(self, x):
        flat = self.scaler.transform(x.reshape(-1, x.shape[-1]))
        return torch.tensor(flat.reshape(x.shape), dtype=torch.float32)

    def fit(self, x, y, x_val, y_val):
        self.scaler.fit(x.reshape(-1, x.shape[-1]))
        xt, yt = self._prepare(x), torch.tensor(y)
        xv, yv = self._prepare(x_val), torch.tensor(y_val)
        self.net = SequenceClassifier(x.shape[-1], self.hidden, int(y.max()) + 1)
        opt = torch.optim.Adam(self.net.parameters(), lr=self.lr)
        criterion = nn.CrossEntropyLoss()
        best, wait, best_state = float("inf"), 0, None
        for epoch in range(self.epochs):
            self.net.train()
            for idx in torch.randperm(len(yt)).split(self.batch):
                opt.zero_grad()
                loss = criterion(self.net(xt[idx]), yt[idx])
                loss.backward()
                nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
                opt.step()
            self.net.eval()
            with torch.no_grad():
                val = criterion(self.net(xv), yv).item()
            if epoch % 5 == 0:
                print(f"epoch {epoch:2d}  train {loss.item():.4f}  val {val:.4f}")
            if val < best:
                best, wait = val, 0
                best_state = {k: v.clone() for k, v in self.net.state_dict().items()}
            else:
                wait += 1
                if wait >= self.patience:
                    break
        self.net.load_state_dict(best_state)
        return self

    @torch.no_grad()
    def predict(self, x):
        self.net.eval()
        return self.net(self._prepare(x)).argmax(1).numpy()


x_train, y_train = simulate(900)
x_val, y_val = simulate(250)
x_test, y_test = simulate(400)
monitor = PumpMonitor().fit(x_train, y_train, x_val, y_val)
pred = monitor.predict(x_test)
print("balanced accuracy %.3f, accuracy %.3f (chance 0.333)" % (balanced_accuracy_score(y_test, pred), (pred == y_test).mean()))
