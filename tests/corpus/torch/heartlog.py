import numpy as np
import torch
from torch import nn

torch.manual_seed(5)
rng = np.random.default_rng(5)

RATE = 128


def beat(kind):
    t = np.linspace(0, 1, RATE)
    start = rng.uniform(0.35, 0.6)
    x = 0.15 * np.exp(-((t - start + 0.18) / 0.03) ** 2) * (kind != 1)
    width = 0.05 if kind == 2 else 0.015
    x += 1.0 * np.exp(-((t - start) / width) ** 2)
    x += (-0.3 if kind == 3 else 0.3) * np.exp(-((t - start - 0.25) / 0.05) ** 2)
    x += rng.normal(0, 0.04, RATE)
    return (x - x.mean()) / x.std()


labels = rng.integers(0, 4, 1600)
signals = np.stack([beat(k) for k in labels])
X = torch.tensor(signals, dtype=torch.float32).unsqueeze(1)
Y = torch.tensor(labels)
X_train, Y_train, X_val, Y_val = X[:1280], Y[:1280], X[1280:], Y[1280:]

device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(
    nn.Conv1d(1, 16, 7, padding=3), nn.ReLU(), nn.MaxPool1d(4),
    nn.Conv1d(16, 32, 7, padding=3), nn.ReLU(), nn.MaxPool1d(4),
    nn.Flatten(), nn.Linear(32 * 8, 4),
).to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)

history = {"loss": [], "val_acc": []}
for epoch in range(10):
    model.train()
    order = torch.randperm(len(X_train))
    losses = []
    for batch in order.split(32):
        inputs, targets = X_train[batch].to(device), Y_train[batch].to(device)
        outputs = model(inputs)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        acc = (model(X_val.to(device)).argmax(1).cpu() == Y_val).float().mean().item()
    history["loss"].append(float(np.mean(losses)))
    history["val_acc"].append(acc)
    print(f"Epoch {epoch + 1}: loss={history['loss'][-1]:.4f} val_acc={acc:.4f}")
