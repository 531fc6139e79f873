import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import f1_score
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(42)
X, Y = make_multilabel_classification(n_samples=2500, n_features=40, n_classes=6, n_labels=2,
                                      length=80, random_state=42)
X = np.log1p(X).astype(np.float32)
Y = Y.astype(np.float32)
mean, std = X[:2000].mean(0), X[:2000].std(0)
X = (X - mean) / std

train_dl = DataLoader(TensorDataset(torch.from_numpy(X[:2000]), torch.from_numpy(Y[:2000])),
                      batch_size=50, shuffle=True, drop_last=True)
X_test, Y_test = torch.from_numpy(X[2000:]), Y[2000:]
print("label frequency:", Y[:2000].mean(0).round(2))


class MultiLabelNet(nn.Module):
    def __init__(self, n_features, n_labels):
        super().__init__()
        self.l1 = nn.Linear(n_features, 96)
        self.l2 = nn.Linear(96, 48)
        self.l3 = nn.Linear(48, n_labels)
        self.dropout = nn.Dropout(0.3)

    def forward(self, x):
        x = self.dropout(F.relu(self.l1(x)))
        x = self.dropout(F.relu(self.l2(x)))
        return self.l3(x)


model = MultiLabelNet(X.shape[1], Y.shape[1])
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-5)
loss_fn = nn.BCEWithLogitsLoss()

for epoch in range(1, 21):
    model.train()
    total = 0.0
    for xb, yb in train_dl:
        logits = model(xb)
        loss = loss_fn(logits, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 4 == 0:
        model.eval()
        with torch.no_grad():
            pred = (torch.sigmoid(model(X_test)) > 0.5).int().numpy()
        print(f"epoch {epoch}: loss {total / len(train_dl):.4f} "
              f"micro-F1 {f1_score(Y_test, pred, average='micro'):.3f} "
              f"macro-F1 {f1_score(Y_test, pred, average='macro'):.3f} "
              f"exact match {(pred == Y_test).all(1).mean():.3f}")
