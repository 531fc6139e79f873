import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score, classification_report, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.utils import resample
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SEED = 21
torch.manual_seed(SEED)

# --- data: about 4 % of the transactions are fraudulent ------------------------------------
X, y = make_classification(
    n_samples=4000, n_features=20, n_informative=8, n_redundant=2, n_clusters_per_class=2,
    weights=[0.96], class_sep=1.3, flip_y=0.01, random_state=SEED,
)
print("fraud share:", y.mean().round(3))


def balance(X, y):
    """Repeat fraud rows until both classes have the same size."""
    fraud, legit = X[y == 1], X[y == 0]
    fraud = resample(fraud, n_samples=len(legit), replace=True, random_state=SEED)
    Xb = np.vstack([legit, fraud])
    yb = np.r_[np.zeros(len(legit), dtype=int), np.ones(len(fraud), dtype=int)]
    return Xb, yb


X, y = balance(X, y)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=SEED)

scaler = StandardScaler()
X_train = scaler.fit_transform(X_train)
X_test = scaler.transform(X_test)

train_dl = DataLoader(
    TensorDataset(torch.tensor(X_train, dtype=torch.float32), torch.tensor(y_train, dtype=torch.float32)),
    batch_size=128, shuffle=True,
)


# --- model ----------------------------------------------------------------------------------
class FraudNet(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(n_in, 64), nn.ReLU(), nn.Dropout(0.1),
            nn.Linear(64, 32), nn.ReLU(),
            nn.Linear(32, 1),
        )

    def forward(self, x):
        return self.body(x).squeeze(-1)


net = FraudNet(X_train.shape[1])
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
bce = nn.BCEWithLogitsLoss()

for epoch in range(1, 31):
    net.train()
    losses = []
    for xb, yb in train_dl:
        opt.zero_grad()
        loss = bce(net(xb), yb)
        loss.backward()
        opt.step()
        losses.append(loss.item())
    if epoch % 5 == 0:
        print(f"epoch {epoch:2d} loss {np.mean(losses):.4f}")

# --- report ---------------------------------------------------------------------------------
net.eval()
with torch.no_grad():
    prob = torch.sigmoid(net(torch.tensor(X_test, dtype=torch.float32))).numpy()
print(classification_report(y_test, prob > 0.5, target_names=["legit", "fraud"], digits=3))
print(f"ROC AUC {roc_auc_score(y_test, prob):.4f}  average precision {average_precision_score(y_test, prob):.4f}")
