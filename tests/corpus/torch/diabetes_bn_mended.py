import torch
import torch.nn as nn
from sklearn.datasets import load_diabetes
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(42)

X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=42)
sx = StandardScaler().fit(X_train)
sy = StandardScaler().fit(y_train.reshape(-1, 1))


def to_ds(a, b):
    return TensorDataset(
        torch.tensor(sx.transform(a), dtype=torch.float32),
        torch.tensor(sy.transform(b.reshape(-1, 1)), dtype=torch.float32),
    )


train_loader = DataLoader(to_ds(X_train, y_train), batch_size=32, shuffle=True, drop_last=True)
test_ds = to_ds(X_test, y_test)


class Regressor(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_in, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2),
            nn.Linear(32, 16), nn.BatchNorm1d(16), nn.ReLU(),
            nn.Linear(16, 1),
        )

    def forward(self, x):
        return self.layers(x)


model = Regressor(X.shape[1])
criterion = nn.MSELoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)

for epoch in range(25):
    model.train()
    losses = []
    for step, (xb, yb) in enumerate(train_loader):
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1:2d} train mse {sum(losses) / len(losses):.3f}")

model.eval()
with torch.no_grad():
    pred = sy.inverse_transform(model(test_ds.tensors[0]).numpy()).ravel()
print(f"test R2 {r2_score(y_test, pred):.3f}")
