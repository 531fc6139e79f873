import torch
import torch.nn as nn
import torch.optim as optim
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.manual_seed(1)
BATCH = 64
EPOCHS = 12

digits = load_digits()
images = torch.tensor(digits.images / 16.0, dtype=torch.float32).unsqueeze(1)
labels = torch.tensor(digits.target)
x_train, x_test, y_train, y_test = train_test_split(images, labels, test_size=0.2, random_state=1)

net = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Flatten(),
    nn.Linear(32 * 2 * 2, 10),
)

criterion = nn.CrossEntropyLoss()
optimizer = optim.Adam(net.parameters(), lr=3e-3)
scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="min", factor=0.5, patience=2, verbose=True)

best = float("inf")
for epoch in range(EPOCHS):
    net.train()
    perm = torch.randperm(len(x_train))
    train_loss = 0.0
    for i in range(0, len(perm), BATCH):
        idx = perm[i:i + BATCH]
        optimizer.zero_grad()
        out = net(x_train[idx])
        loss = criterion(out, y_train[idx])
        loss.backward()
        optimizer.step()
        train_loss += loss.item() * len(idx)

    net.eval()
    with torch.no_grad():
        out = net(x_test)
        val_loss = criterion(out, y_test).item()
        acc = (out.argmax(1) == y_test).float().mean().item()
    scheduler.step(val_loss)
    if val_loss < best:
        best = val_loss
        best_state = {k: v.clone() for k, v in net.state_dict().items()}
    print(f"[{epoch + 1:02d}/{EPOCHS}] train {train_loss / len(x_train):.4f}  val {val_loss:.4f}  acc {acc:.4f}")

net.load_state_dict(best_state)
print("best val loss", best)
