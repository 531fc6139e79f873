import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

torch.manual_seed(0)
np.random.seed(0)

X, y = load_digits(return_X_y=True)
X = X / 16.0
X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.2, random_state=0)
X_tr, X_te = torch.FloatTensor(X_tr), torch.FloatTensor(X_te)
y_tr, y_te = torch.LongTensor(y_tr), torch.LongTensor(y_te)


def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight)
        nn.init.zeros_(m.bias)


model = nn.Sequential(
    nn.Linear(64, 128),
    nn.ReLU(),
    nn.Linear(128, 64),
    nn.ReLU(),
    nn.Linear(64, 10),
)
model.apply(init_weights)

loss_fn = nn.CrossEntropyLoss()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
BATCH = 32

for epoch in range(10):
    order = torch.randperm(len(X_tr))
    losses = []
    for start in range(0, len(order), BATCH):
        rows = order[start:start + BATCH]
        loss = loss_fn(model(X_tr[rows]), y_tr[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    with torch.no_grad():
        test_logits = model(X_te)
        test_loss = loss_fn(test_logits, y_te).item()
        acc = (test_logits.argmax(1) == y_te).float().mean().item()
    print(f"epoch {epoch:2d}  train {np.mean(losses):.4f}  test {test_loss:.4f}  acc {acc:.4f}")
