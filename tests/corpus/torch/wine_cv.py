# 5-fold cross-validation of a small net on the wine data
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

torch.manual_seed(42)


class WineNet(nn.Module):
    def __init__(self, n_in, n_hidden, n_out):
        super().__init__()
        self.fc1 = nn.Linear(n_in, n_hidden)
        self.fc2 = nn.Linear(n_hidden, n_hidden)
        self.out = nn.Linear(n_hidden, n_out)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = self.drop(torch.relu(self.fc2(x)))
        return self.out(x)


X, y = load_wine(return_X_y=True)
model = WineNet(X.shape[1], 32, 3)
print(model)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=1e-3)

EPOCHS, BATCH = 40, 16
scores = []
skf = StratifiedKFold(n_splits=5, shuffle=True, random_state=1)
for fold, (tr, va) in enumerate(skf.split(X, y)):
    # start every fold from fresh weights
    model = WineNet(X.shape[1], 32, 3)
    sc = StandardScaler().fit(X[tr])
    xt = torch.tensor(sc.transform(X[tr]), dtype=torch.float32)
    xv = torch.tensor(sc.transform(X[va]), dtype=torch.float32)
    yt, yv = torch.from_numpy(y[tr]), torch.from_numpy(y[va])

    for epoch in range(EPOCHS):
        model.train()
        perm = torch.randperm(len(xt))
        losses = []
        for i in range(0, len(xt), BATCH):
            idx = perm[i:i + BATCH]
            optimizer.zero_grad()
            loss = criterion(model(xt[idx]), yt[idx])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        if epoch % 10 == 0 or epoch == EPOCHS - 1:
            print(f"fold {fold} epoch {epoch:2d} loss {np.mean(losses):.4f}")

    model.eval()
    with torch.no_grad():
        acc = (model(xv).argmax(1) == yv).float().mean().item()
    scores.append(acc)
    print(f"fold {fold} accuracy {acc:.3f}")

print(f"mean accuracy {np.mean(scores):.3f} +- {np.std(scores):.3f}")
