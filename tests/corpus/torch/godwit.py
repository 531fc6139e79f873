from dataclasses import dataclass

import numpy as np
import torch
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from torch import nn


@dataclass
class Settings:
    folds: int = 5
    epochs: int = 40
    batch: int = 16
    hidden: int = 32
    lr: float = 3e-3
    weight_decay: float = 1e-3
    seed: int = 21


class WineNet(nn.Module):
    def __init__(self, n_features, n_classes, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_features, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Dropout(0.2),
                                 nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, n_classes))

    def forward(self, x):
        return self.net(x)


class CrossValidator:
    def __init__(self, settings, x, y):
        self.s, self.x, self.y = settings, x, y
        self.n_classes = len(np.unique(y))
        self.model = self.build()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=settings.lr, weight_decay=settings.weight_decay)
        self.criterion = nn.CrossEntropyLoss()

    def build(self):
        return WineNet(self.x.shape[1], self.n_classes, self.s.hidden)

    def fit(self, x, y):
        x, y = torch.as_tensor(x, dtype=torch.float32), torch.as_tensor(y)
        last = 0.0
        for _ in range(self.s.epochs):
            self.model.train()
            order = torch.randperm(len(x))
            for idx in order[: len(x) // self.s.batch * self.s.batch].split(self.s.batch):
                loss = self.criterion(self.model(x[idx]), y[idx])
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optimizer.step()
                last = loss.item()
        return last

    @torch.no_grad()
    def score(self, x, y):
        self.model.eval()
        pred = self.model(torch.as_tensor(x, dtype=torch.float32)).argmax(1).numpy()
        return float((pred == y).mean())

    def run(self):
        splitter = StratifiedKFold(self.s.folds, shuffle=True, random_state=self.s.seed)
        scores = []
        for k, (tr, te) in enumerate(splitter.split(self.x, self.y)):
            scaler = StandardScaler().fit(self.x[tr])
            loss = self.fit(scaler.transform(self.x[tr]), self.y[tr])
            scores.append(self.score(scaler.transform(self.x[te]), self.y[te]))
            print(f"fold {k}: last loss {loss:.4f}, accuracy {scores[-1]:.3f}")
            self.model = self.build()
        return np.array(scores)


if __name__ == "__main__":
    settings = Settings()
    torch.manual_seed(settings.seed)
    features, target = load_wine(return_X_y=True)
    result = CrossValidator(settings, features, target).run()
    print(f"cross-validated accuracy: {result.mean():.3f} +- {result.std():.3f}")
