"""Several labels per document, bag-of-words features."""
import torch
import torch.nn as nn
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import f1_score
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)

counts, labels = make_multilabel_classification(
    n_samples=4000, n_features=60, n_classes=6, n_labels=2, length=80, random_state=4)
feats = torch.tensor(counts, dtype=torch.float32).log1p()
labels = torch.tensor(labels, dtype=torch.float32)
train_ds = TensorDataset(feats[:3200], labels[:3200])
x_test, y_test = feats[3200:], labels[3200:]

config = dict(batch_size=32, epochs=20, lr=0.05, step_size=5, gamma=0.5)

loader = DataLoader(train_ds, batch_size=config["batch_size"], shuffle=True)
model = nn.Sequential(
    nn.Linear(60, 96),
    nn.ReLU(),
    nn.Dropout(0.2),
    nn.Linear(96, 6),
)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"], momentum=0.9)
scheduler = StepLR(optimizer, step_size=config["step_size"], gamma=config["gamma"])

for epoch in range(1, config["epochs"] + 1):
    model.train()
    running = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
        running += loss.item()

    model.eval()
    with torch.no_grad():
        logits = model(x_test)
        val = criterion(logits, y_test).item()
        pred = (logits.sigmoid() > 0.5).int()
    f1 = f1_score(y_test.int(), pred, average="macro", zero_division=0)
    print(f"Epoch {epoch:02d} | loss {running / len(loader):.4f} | val {val:.4f} | macro F1 {f1:.3f}")
