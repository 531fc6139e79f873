# Which cultivar does a wine come from? 13 chemical measurements, 3 classes.
import numpy as np
import torch
from sklearn.datasets import load_wine
from torch import nn
from torch.utils.data import DataLoader, Dataset


class WineTable(Dataset):
    """Rows of one big table, the class sits in the last column."""

    def __init__(self, table):
        self.table = torch.from_numpy(table)

    def __len__(self):
        return self.table.shape[0]

    def __getitem__(self, row):
        features = self.table[row, :-1]
        target = self.table[row, -1]
        return features, target


def read_table(seed=0):
    wine = load_wine()
    table = np.hstack([wine.data, wine.target.reshape(-1, 1)]).astype(np.float32)
    np.random.default_rng(seed).shuffle(table)
    train, test = table[:130].copy(), table[130:].copy()
    mu, sigma = train[:, :-1].mean(0), train[:, :-1].std(0)
    for part in (train, test):
        part[:, :-1] = (part[:, :-1] - mu) / sigma
    return train, test


def make_model(hidden=24):
    return nn.Sequential(
        nn.Linear(13, hidden),
        nn.LeakyReLU(),
        nn.Linear(hidden, hidden),
        nn.LeakyReLU(),
        nn.Linear(hidden, 3),
    )


def train_model(model, loader, epochs=25, lr=0.02):
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, weight_decay=1e-3)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for features, target in loader:
            optimizer.zero_grad()
            scores = model(features)
            loss = criterion(scores, target)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(target)
        if (epoch + 1) % 5 == 0:
            print(f"epoch {epoch + 1:3d}: loss {total / len(loader.dataset):.4f}")


def test_model(model, loader):
    model.eval()
    confusion = torch.zeros(3, 3, dtype=torch.long)
    with torch.no_grad():
        for features, target in loader:
            for t, p in zip(target.long(), model(features).argmax(dim=1)):
                confusion[t, p] += 1
    return confusion


if __name__ == "__main__":
    torch.manual_seed(1)
    train_table, test_table = read_table()
    train_loader = DataLoader(WineTable(train_table), batch_size=16, shuffle=True)
    test_loader = DataLoader(WineTable(test_table), batch_size=16)

    net = make_model()
    train_model(net, train_loader)
    confusion = test_model(net, test_loader)
    print(confusion)
    print("test accuracy: %.3f" % (confusion.diag().sum() / confusion.sum()).item())
