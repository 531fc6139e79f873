import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
np.random.seed(3)


class DigitNet(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.LeakyReLU(0.1),
            nn.Conv2d(16, 32, 3, padding=1), nn.LeakyReLU(0.1), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(32 * 16, 128), nn.LeakyReLU(0.1),
        )
        self.head = nn.Linear(128, n_out)

    def forward(self, x):
        return self.head(self.backbone(x))


class TransferStudy:
    """Pretrain on one set of digits, then move to another with a new head."""

    def __init__(self, source, target, lr=1e-3, lr_target=2e-2, batch_size=32):
        self.source, self.target = source, target
        self.lr, self.lr_target = lr, lr_target
        self.batch_size = batch_size
        self.net = DigitNet(len(source))
        self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.criterion = nn.CrossEntropyLoss()

    def _subset(self, X, y, classes):
        keep = np.isin(y, classes)
        remap = {c: i for i, c in enumerate(classes)}
        xs = torch.tensor(X[keep], dtype=torch.float32).view(-1, 1, 8, 8) / 16.0
        ys = torch.tensor([remap[c] for c in y[keep]])
        return TensorDataset(xs, ys)

    def _run_phase(self, name, train_ds, epochs):
        loader = DataLoader(train_ds, batch_size=self.batch_size, shuffle=True)
        for epoch in range(epochs):
            self.net.train()
            total, n = 0.0, 0
            for xb, yb in loader:
                self.opt.zero_grad()
                loss = self.criterion(self.net(xb), yb)
                loss.backward()
                self.opt.step()
                total += loss.item() * len(xb)
                n += len(xb)
            print(f"[{name}] epoch {epoch + 1:2d}  loss {total / n:.4f}")

    def start_target_phase(self):
        for p in self.net.backbone.parameters():
            p.requires_grad_(False)
        self.net.head = nn.Linear(128, len(self.target))
        self.opt = torch.optim.Adam(self.net.head.parameters(), lr=self.lr_target)

    @torch.no_grad()
    def score(self, ds):
        self.net.eval()
        xs, ys = ds.tensors
        return (self.net(xs).argmax(1) == ys).float().mean().item()

    def fit(self, X_train, y_train, epochs=(4, 15)):
        self._run_phase("source", self._subset(X_train, y_train, self.source), epochs[0])
        self.source_train_acc = self.score(self._subset(X_train, y_train, self.source))
        self.start_target_phase()
        self._run_phase("target", self._subset(X_train, y_train, self.target), epochs[1])
        return self


X, y = load_digits(return_X_y=True)
X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

study = TransferStudy(source=[0, 1, 2, 3, 4], target=[5, 6, 7, 8, 9]).fit(X_tr, y_tr)
test_target = study._subset(X_te, y_te, study.target)
print(f"source train accuracy {study.source_train_acc:.3f}")
print(f"target test accuracy  {study.score(test_target):.3f}")
