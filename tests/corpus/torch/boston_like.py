import numpy as np
import torch
import torch.nn as nn

np.random.seed(0)
torch.manual_seed(0)
X = np.random.randn(1000, 6).astype(np.float32)
y = (X @ np.array([1.5, -2.0, 0.7, 0.0, 0.3, 1.1]) + 0.1 * np.random.randn(1000)).astype(np.float32)
X_train, y_train = torch.from_numpy(X[:800]), torch.from_numpy(y[:800])
X_test, y_test = torch.from_numpy(X[800:]), torch.from_numpy(y[800:])


class Regressor(nn.Module):
    def __init__(self):
        super(Regressor, self).__init__()
        self.hidden = nn.Linear(6, 32)
        self.out = nn.Linear(32, 1)

    def forward(self, x):
        x = torch.relu(self.hidden(x))
        return self.out(x)


model = Regressor()
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
batch_size = 40
for epoch in range(20):
    permutation = torch.randperm(X_train.size(0))
    for i in range(0, X_train.size(0), batch_size):
        indices = permutation[i:i + batch_size]
        batch_x, batch_y = X_train[indices], y_train[indices]
        optimizer.zero_grad()
        outputs = model(batch_x)
        loss = criterion(outputs, batch_y)
        loss.backward()
        optimizer.step()
    print("epoch", epoch, "loss", loss.item())
with torch.no_grad():
    predicted = model(X_test).squeeze()
    print("r2", 1 - ((predicted - y_test) ** 2).sum().item() / ((y_test - y_test.mean()) ** 2).sum().item())
