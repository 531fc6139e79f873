"""Default risk on card accounts. Defaults are rare, so the minority class is synthesised up (SMOTE)."""
import numpy as np
import torch
from sklearn.metrics import average_precision_score, f1_score, precision_score, recall_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

SEED = 42
np.random.seed(SEED)
torch.manual_seed(SEED)
torch.set_num_threads(1)


def accounts(n=5000):
    rng = np.random.default_rng(SEED)
    limit = rng.lognormal(8, 0.6, n)
    use = rng.beta(2, 4, n)
    late = rng.poisson(0.4, n).astype(float)
    age = rng.normal(41, 11, n).clip(18)
    pays = rng.normal(0, 1, (n, 6))
    bills = rng.normal(0, 1, (n, 6)) + use[:, None]
    other = rng.normal(0, 1, (n, 8))
    score = 2.2 * use + 0.9 * late - 0.5 * pays[:, 0] - 0.4 * pays[:, 1] + 0.5 * bills[:, 0] * (late > 0)
    score += rng.normal(0, 0.9, n)
    y = (score > np.quantile(score, 0.96)).astype(int)
    x = np.column_stack([np.log(limit), use, late, age, pays, bills, other])
    return x.astype("float32"), y


def smote(x, y, k=5):
    """Fill the rare class up to the size of the common one with points between neighbours."""
    rng = np.random.default_rng(SEED)
    rare = x[y == 1]
    need = int((y == 0).sum() - len(rare))
    near = NearestNeighbors(n_neighbors=k + 1).fit(rare).kneighbors(rare, return_distance=False)[:, 1:]
    base = rng.integers(0, len(rare), need)
    mate = near[base, rng.integers(0, k, need)]
    gap = rng.random((need, 1))
    new = rare[base] + gap * (rare[mate] - rare[base])
    x_all = np.vstack([x, new]).astype("float32")
    y_all = np.concatenate([y, np.ones(need, int)])
    order = rng.permutation(len(y_all))
    return x_all[order], y_all[order]


class RiskNet(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(d, 64), nn.ReLU(), nn.Dropout(0.2),
            nn.Linear(64, 32), nn.ReLU(), nn.Dropout(0.2),
            nn.Linear(32, 1),
        )

    def forward(self, x):
        return self.layers(x).squeeze(-1)


x, y = accounts()
print(f"{len(y)} accounts, {y.mean():.1%} defaulted")

x, y = smote(x, y)
x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.25, stratify=y, random_state=SEED)
scaler = StandardScaler().fit(x_train)
x_train = torch.from_numpy(scaler.transform(x_train).astype("float32"))
x_test = torch.from_numpy(scaler.transform(x_test).astype("float32"))
print(f"train {len(y_train)} rows ({y_train.mean():.2f} positive), test {len(y_test)} rows ({y_test.mean():.2f} positive)")

loader = DataLoader(TensorDataset(x_train, torch.from_numpy(y_train).float()), batch_size=128, shuffle=True)
net = RiskNet(x_train.shape[1])
criterion = nn.BCEWithLogitsLoss()
optimizer = optim.Adam(net.parameters(), lr=1e-3, weight_decay=1e-5)

for epoch in range(15):
    net.train()
    losses = []
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(net(xb), yb)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1:2d} train loss {np.mean(losses):.4f}")

net.eval()
with torch.no_grad():
    prob = torch.sigmoid(net(x_test)).numpy()
pred = (prob > 0.5).astype(int)
base = np.ones_like(y_test)
print(f"precision {precision_score(y_test, pred):.3f}  recall {recall_score(y_test, pred):.3f}  "
      f"F1 {f1_score(y_test, pred):.3f}  AP {average_precision_score(y_test, prob):.3f}")
print(f"flag-everyone F1 {f1_score(y_test, base):.3f}, random AP {y_test.mean():.3f}")
