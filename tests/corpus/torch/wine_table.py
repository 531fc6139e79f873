import pandas as pd
import torch
import torch.nn as nn
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
frame = load_wine(as_frame=True).frame
frame["strength"] = pd.cut(frame["alcohol"], 4, labels=False)      # as a category
conts = [c for c in frame.columns if c not in ("target", "strength", "alcohol")]
train_df, test_df = train_test_split(frame, test_size=0.3, random_state=1, stratify=frame["target"])


def tensors(df):
    return (torch.tensor(df["strength"].values, dtype=torch.long),
            torch.tensor(df[conts].values, dtype=torch.float32),
            torch.tensor(df["target"].values, dtype=torch.long))


train_loader = DataLoader(TensorDataset(*tensors(train_df)), batch_size=31, shuffle=True)
test_loader = DataLoader(TensorDataset(*tensors(test_df)), batch_size=64)


class TabularNet(nn.Module):
    def __init__(self, n_cont, n_classes):
        super().__init__()
        self.emb = nn.Embedding(4, 3)
        self.bn_cont = nn.BatchNorm1d(n_cont)
        self.layers = nn.Sequential(
            nn.Linear(n_cont + 3, 64), nn.ReLU(), nn.BatchNorm1d(64), nn.Dropout(0.1),
            nn.Linear(64, 32), nn.ReLU(), nn.BatchNorm1d(32), nn.Linear(32, n_classes))

    def forward(self, cat, cont):
        return self.layers(torch.cat([self.emb(cat), self.bn_cont(cont)], dim=1))


model = TabularNet(len(conts), 3)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
loss_fn = nn.CrossEntropyLoss()


def evaluate():
    model.eval()
    loss, hits, n = 0.0, 0, 0
    with torch.no_grad():
        for cat, cont, y in test_loader:
            out = model(cat, cont)
            loss += loss_fn(out, y).item() * len(y)
            hits += (out.argmax(1) == y).sum().item()
            n += len(y)
    return loss / n, hits / n


model.train()
print("before training: loss %.3f  accuracy %.3f" % evaluate())
for epoch in range(1, 41):
    for cat, cont, y in train_loader:
        optimizer.zero_grad()
        loss = loss_fn(model(cat, cont), y)
        loss.backward()
        optimizer.step()
    if epoch % 5 == 0:
        print("epoch %2d: train loss %.3f  test loss %.3f  accuracy %.3f" % (epoch, loss.item(), *evaluate()))
