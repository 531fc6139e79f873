# %% [markdown]
# # Screening insurance claims for manual audit
# Rare positives (about 6 %), numeric features, small MLP.

# %%
import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score, precision_score, recall_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn

np.random.seed(21)
torch.manual_seed(21)

# %%
X, y = make_classification(
    n_samples=5000, n_features=24, n_informative=8, n_redundant=4, n_clusters_per_class=3,
    weights=[0.94], class_sep=1.2, flip_y=0.005, random_state=21)
print("claims:", X.shape, "to audit:", int(y.sum()))


# %%
def balance(X, y, seed=0):
    """Repeat minority rows until both classes have equal counts."""
    rng = np.random.default_rng(seed)
    pos, neg = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    extra = rng.choice(pos, size=len(neg) - len(pos), replace=True)
    order = rng.permutation(np.concatenate([neg, pos, extra]))
    return X[order], y[order]


# %%
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=1)
X_train, y_train = balance(X_train, y_train)

scaler = StandardScaler().fit(X_train)
X_train = torch.tensor(scaler.transform(X_train), dtype=torch.float32)
X_test = torch.tensor(scaler.transform(X_test), dtype=torch.float32)
y_train_t = torch.tensor(y_train, dtype=torch.float32)
print("train", tuple(X_train.shape), "test", tuple(X_test.shape))

# %%
mlp = nn.Sequential(
    nn.Linear(24, 128), nn.ReLU(), nn.Dropout(0.2),
    nn.Linear(128, 64), nn.ReLU(), nn.Dropout(0.2),
    nn.Linear(64, 1),
)
opt = torch.optim.Adam(mlp.parameters(), lr=1e-3)
bce = nn.BCEWithLogitsLoss()

# %%
EPOCHS, BATCH = 20, 64
for epoch in range(1, EPOCHS + 1):
    mlp.train()
    perm = torch.randperm(len(X_train))
    epoch_loss = 0.0
    for chunk in perm.split(BATCH):
        logits = mlp(X_train[chunk]).squeeze(1)
        loss = bce(logits, y_train_t[chunk])
        opt.zero_grad()
        loss.backward()
        opt.step()
        epoch_loss += loss.item() * len(chunk)
    if epoch % 5 == 0:
        print(f"epoch {epoch:3d}  loss {epoch_loss / len(X_train):.4f}")

# %%
mlp.eval()
with torch.no_grad():
    prob = torch.sigmoid(mlp(X_test).squeeze(1)).numpy()
flag = (prob > 0.5).astype(int)
print(f"held-out precision {precision_score(y_test, flag):.3f}")
print(f"held-out recall    {recall_score(y_test, flag):.3f}")
print(f"held-out F1        {f1_score(y_test, flag):.3f}")
print(f"F1 when flagging everything {f1_score(y_test, np.ones_like(y_test)):.3f}")
