"""Five-fold cross-validation of a small network that names minerals by their Raman peaks."""
import numpy as np
import torch
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from torch import nn

CLASSES = ["quartz", "calcite", "olivine", "gypsum", "zircon", "topaz"]


def raman_table(n=720, channels=40, seed=2):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % len(CLASSES)
    rng.shuffle(y)
    centres = rng.uniform(4, channels - 4, (len(CLASSES), 3))
    axis = np.arange(channels)
    x = np.zeros((n, channels))
    for c in range(3):
        mu = centres[y, c] + rng.normal(0, 0.7, n)
        x += rng.uniform(0.3, 1.0, (n, 1)) * np.exp(-((axis - mu[:, None]) ** 2) / 3)
    return x + rng.normal(0, 0.12, x.shape), y


class Learner:
    def __init__(self, channels, lr=2e-3):
        self.channels = channels
        self.lr = lr
        self.net = self.build()
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=self.lr, weight_decay=1e-3)
        self.loss = nn.CrossEntropyLoss()

    def build(self):
        return nn.Sequential(
            nn.Linear(self.channels, 48), nn.LayerNorm(48), nn.ReLU(), nn.Dropout(0.2), nn.Linear(48, len(CLASSES))
        )

    def reset(self):
        self.net = self.build()

    def fit(self, x, y, epochs=15, batch=32):
        history = []
        for _ in range(epochs):
            self.net.train()
            for rows in torch.randperm(len(x)).split(batch):
                self.opt.zero_grad()
                loss = self.loss(self.net(x[rows]), y[rows])
                loss.backward()
                self.opt.step()
                history.append(loss.item())
        return history

    @torch.no_grad()
    def predict(self, x):
        self.net.eval()
        return self.net(x).argmax(1).numpy()


def main():
    torch.manual_seed(5)
    x, y = raman_table()
    learner = Learner(x.shape[1])
    scores = []
    folds = StratifiedKFold(n_splits=5, shuffle=True, random_state=0)
    for k, (train, test) in enumerate(folds.split(x, y)):
        learner.reset()
        scaler = StandardScaler().fit(x[train])
        xt = torch.tensor(scaler.transform(x[train]), dtype=torch.float32)
        xv = torch.tensor(scaler.transform(x[test]), dtype=torch.float32)
        history = learner.fit(xt, torch.tensor(y[train]))
        scores.append(balanced_accuracy_score(y[test], learner.predict(xv)))
        print(f"fold {k}: first loss {history[0]:.3f}, last losses {np.mean(history[-15:]):.3f}, score {scores[-1]:.3f}")
    print(f"mean {np.mean(scores):.3f} +- {np.std(scores):.3f}")


if __name__ == "__main__":
    main()
