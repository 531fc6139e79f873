# Predict one-year disease progression from ten baseline measurements.
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_diabetes
from sklearn.metrics import r2_score, mean_absolute_error
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import TensorDataset, DataLoader

torch.manual_seed(11)
np.random.seed(11)

X, y = load_diabetes(return_X_y=True)
X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.25, random_state=11)

xs = StandardScaler().fit(X_tr)
ymean, ystd = y_tr.mean(), y_tr.std()

X_tr = torch.tensor(xs.transform(X_tr), dtype=torch.float32)
X_te = torch.tensor(xs.transform(X_te), dtype=torch.float32)
t_tr = torch.tensor((y_tr - ymean) / ystd, dtype=torch.float32)
t_te = torch.tensor((y_te - ymean) / ystd, dtype=torch.float32)

loader = DataLoader(TensorDataset(X_tr, t_tr), batch_size=32, shuffle=True)

net = nn.Sequential(
    nn.Linear(10, 32), nn.ReLU(),
    nn.Dropout(0.1),
    nn.Linear(32, 16), nn.ReLU(),
    nn.Linear(16, 1),
)
criterion = nn.MSELoss()
opt = torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=1e-3)

history = []
for epoch in range(40):
    net.train()
    running = 0.0
    for xb, yb in loader:
        opt.zero_grad()
        out = net(xb)
        loss = criterion(out, yb)
        loss.backward()
        opt.step()
        running += loss.item() * len(xb)
    history.append(running / len(loader.dataset))
    if epoch % 8 == 7:
        print(f"epoch {epoch + 1:3d}  train mse {history[-1]:.4f}")

net.eval()
with torch.no_grad():
    pred = net(X_te).numpy().ravel() * ystd + ymean
print("test MAE:", round(mean_absolute_error(y_te, pred), 2))
print("test R2 :", round(r2_score(y_te, pred), 3))
