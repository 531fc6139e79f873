# Small CNN for the leaf-spot camera. Frames arrive one by one in the greenhouse,
# so the final check also goes through them one by one.
# %%
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(13)
rng = np.random.default_rng(13)
SIZE = 20
CLASSES = ["healthy", "few spots", "many spots", "dry"]


# %%
def frame(label):
    img = rng.normal(0, 0.15, (3, SIZE, SIZE))
    img[1] += 0.6 if label != 3 else 0.1
    img[0] += 0.1 if label != 3 else 0.5
    n_spots = {0: 0, 1: rng.integers(2, 4), 2: rng.integers(8, 12), 3: 0}[label]
    for _ in range(n_spots):
        r, c = rng.integers(1, SIZE - 2, 2)
        img[:, r:r + 2, c:c + 2] -= 0.8
    return img


def frames(n):
    y = rng.integers(0, 4, n)
    x = np.stack([frame(int(k)) for k in y]).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy(y)


x_train, y_train = frames(2400)
x_test, y_test = frames(500)


# %%
def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU())


model = nn.Sequential(
    block(3, 16), nn.MaxPool2d(2), block(16, 32), nn.MaxPool2d(2), block(32, 32),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, len(CLASSES)),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)

# %%
for epoch in range(10):
    model.train()
    hits, loss_sum = 0, 0.0
    for idx in torch.randperm(len(x_train)).split(40):
        logits = model(x_train[idx])
        loss = F.cross_entropy(logits, y_train[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        hits += (logits.argmax(1) == y_train[idx]).sum().item()
        loss_sum += loss.item() * len(idx)
    scheduler.step()
    print(f"epoch {epoch}: loss {loss_sum / len(x_train):.4f} accuracy {hits / len(x_train):.3f}")

# %%
table = torch.zeros(4, 4, dtype=torch.long)
model.requires_grad_(False)
model.eval()
with torch.no_grad():
    for img, label in zip(x_test, y_test):
        guess = model(img.unsqueeze(0)).argmax(1).item()
        table[label, guess] += 1

print("rows: truth, columns: guess")
for name, row in zip(CLASSES, table.tolist()):
    print(f"{name:>11}", row)
print("frame accuracy", table.diagonal().sum().item() / table.sum().item())
