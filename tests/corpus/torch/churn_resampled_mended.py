import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import f1_score, average_precision_score, balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.utils import resample

SEED = 5
rng = np.random.RandomState(SEED)
torch.manual_seed(SEED)

# ---- customers -------------------------------------------------------------
n = 3000
tenure = rng.exponential(24, n)
monthly = rng.normal(60, 20, n)
tickets = rng.poisson(1.2, n)
other = rng.randn(n, 17)
score = -0.10 * tenure + 0.08 * (monthly - 60) + 1.6 * tickets + 1.5 * other[:, 0] - 5.0
churn = (rng.rand(n) < 1 / (1 + np.exp(-score))).astype(int)
features = np.column_stack([tenure, monthly, tickets, other]).astype(np.float32)
print("customers", n, "churn rate", round(churn.mean(), 3))


def oversample(X, y):
    """Repeat churners until both classes have the same size."""
    pos, neg = np.where(y == 1)[0], np.where(y == 0)[0]
    pos_up = resample(pos, replace=True, n_samples=len(neg), random_state=SEED)
    keep = np.concatenate([neg, pos_up])
    return X[keep], y[keep]


X_tr, X_te, y_tr, y_te = train_test_split(
    features, churn, test_size=0.25, stratify=churn, random_state=SEED)
X_tr, y_tr = oversample(X_tr, y_tr)

scaler = StandardScaler().fit(X_tr)
X_tr = torch.tensor(scaler.transform(X_tr), dtype=torch.float32)
X_te = torch.tensor(scaler.transform(X_te), dtype=torch.float32)
t_tr = torch.tensor(y_tr, dtype=torch.float32)

mlp = nn.Sequential(
    nn.Linear(X_tr.shape[1], 128), nn.ReLU(),
    nn.Linear(128, 64), nn.ReLU(),
    nn.Linear(64, 1),
)
bce = nn.BCEWithLogitsLoss()
optim = torch.optim.Adam(mlp.parameters(), lr=1e-3, weight_decay=1e-4)

EPOCHS = 12
for epoch in range(EPOCHS):
    mlp.train()
    order = torch.randperm(len(t_tr))
    losses = []
    for chunk in order.split(64):
        optim.zero_grad()
        out = mlp(X_tr[chunk]).squeeze(-1)
        loss = bce(out, t_tr[chunk])
        loss.backward()
        optim.step()
        losses.append(loss.item())
    if (epoch + 1) % 4 == 0:
        print(f"epoch {epoch + 1} loss {np.mean(losses):.4f}")

mlp.eval()
with torch.no_grad():
    prob = torch.sigmoid(mlp(X_te).squeeze(-1)).numpy()
pred = (prob > 0.5).astype(int)
print("test size", len(y_te), "positives", int(y_te.sum()))
print("test F1               ", round(f1_score(y_te, pred), 3))
print("test balanced accuracy", round(balanced_accuracy_score(y_te, pred), 3))
print("test average precision", round(average_precision_score(y_te, prob), 3),
      "(no skill:", round(float(y_te.mean()), 3), ")")
