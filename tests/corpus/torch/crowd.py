# Labels of the training rows come from a crowd: about half of them are a random class.
# The test rows were labelled by experts.
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

g = torch.Generator().manual_seed(0)
torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
X = torch.tensor(X, dtype=torch.float32) / 16
y = torch.tensor(y)
p = torch.randperm(len(X), generator=g)
X, y = X[p], y[p]
X_train, y_train, X_test, y_test = X[:1400], y[:1400].clone(), X[1400:], y[1400:]

lazy = torch.rand(1400, generator=g) < 0.5
y_train[lazy] = torch.randint(0, 10, (int(lazy.sum()),), generator=g)
print(f"crowd label agrees with the expert on {(y_train == y[:1400]).float().mean():.0%} of the rows")

loader = DataLoader(TensorDataset(X_train, y_train), batch_size=50, shuffle=True, generator=g)
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 10))
loss_fn = nn.CrossEntropyLoss(label_smoothing=0.1)
opt = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.05)

for epoch in range(1, 26):
    model.train()
    total = 0.0
    for xb, yb in loader:
        loss = loss_fn(model(xb), yb)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        total += loss.item() * len(xb)
    if epoch % 5 == 0:
        model.eval()
        with torch.no_grad():
            fit = (model(X_train).argmax(1) == y_train).float().mean()
            acc = (model(X_test).argmax(1) == y_test).float().mean()
        print(f"epoch {epoch:2d} loss {total / 1400:.3f} agrees with crowd {fit:.3f} expert accuracy {acc:.3f}")
