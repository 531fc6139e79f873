import copy
import logging

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("mushrooms")

CARDINALITIES = [6, 4, 10, 2, 9, 2, 3, 12]
CLASSES = 5


def field_guide(n, rng, rules):
    rows = np.stack([rng.integers(0, c, n) for c in CARDINALITIES], 1)
    score = sum(rules[j][rows[:, j]] for j in range(len(CARDINALITIES)))
    score = score + 1.2 * rules[-1][(rows[:, 0] * rows[:, 1]) % 12]
    score = score + rng.normal(0, 0.4, score.shape)
    return torch.tensor(rows), torch.tensor(score.argmax(1))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(c, 8) for c in CARDINALITIES])
        self.mlp = nn.Sequential(nn.Linear(8 * len(CARDINALITIES), 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, CLASSES))

    def forward(self, rows):
        return self.mlp(torch.cat([t(rows[:, j]) for j, t in enumerate(self.tables)], 1))


class Trainer:
    def __init__(self, model, lr=1e-3, patience=6):
        self.model = model
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, step_size=5, gamma=0.5)
        self.patience = patience

    def train_epoch(self, loader):
        self.model.train()
        total = 0.0
        for rows, y in loader:
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(rows), y)
            loss.backward()
            self.optimizer.step()
            self.scheduler.step()
            total += loss.item()
        return total / len(loader)

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        loss = right = n = 0
        for rows, y in loader:
            out = self.model(rows)
            loss += self.criterion(out, y).item() * len(y)
            right += (out.argmax(1) == y).sum().item()
            n += len(y)
        return loss / n, right / n

    def fit(self, train, valid, epochs):
        best, best_state, waited = float("inf"), None, 0
        for epoch in range(epochs):
            train_loss = self.train_epoch(train)
            val_loss, acc = self.evaluate(valid)
            log.info("epoch %d train %.4f val %.4f acc %.3f", epoch + 1, train_loss, val_loss, acc)
            if val_loss < best:
                best, best_state, waited = val_loss, copy.deepcopy(self.model.state_dict()), 0
            else:
                waited += 1
                if waited >= self.patience:
                    break
        self.model.load_state_dict(best_state)


torch.manual_seed(21)
rng = np.random.default_rng(21)
rules = [rng.normal(0, 1, (c, CLASSES)) for c in CARDINALITIES]
train_set = TensorDataset(*field_guide(3000, rng, rules))
valid_set = TensorDataset(*field_guide(800, rng, rules))
trainer = Trainer(Classifier())
trainer.fit(DataLoader(train_set, batch_size=32, shuffle=True), DataLoader(valid_set, batch_size=256), epochs=15)
log.info("accuracy %.3f", trainer.evaluate(DataLoader(valid_set, batch_size=256))[1])
