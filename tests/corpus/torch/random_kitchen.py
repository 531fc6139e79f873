import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_wine
from sklearn.metrics import accuracy_score
from sklearn.model_selection import StratifiedKFold


class RandomFeatures(nn.Module):
    """cos(Wx + b) with drawn, never trained W and b."""

    def __init__(self, n_in, n_features, gamma):
        super().__init__()
        self.proj = nn.Linear(n_in, n_features)
        nn.init.normal_(self.proj.weight, std=float(np.sqrt(2 * gamma)))
        nn.init.uniform_(self.proj.bias, 0, 2 * np.pi)
        self.scale = float(np.sqrt(2.0 / n_features))
        for p in self.parameters():
            p.requires_grad = False

    def forward(self, x):
        return self.scale * torch.cos(self.proj(x))


class KernelClassifier:
    def __init__(self, n_features=600, gamma=0.03, max_iter=15, ridge=1e-3):
        self.n_features, self.gamma = n_features, gamma
        self.max_iter, self.ridge = max_iter, ridge

    def fit(self, X, y):
        self.mean, self.std = X.mean(0), X.std(0)
        x = self._prepare(X)
        t = torch.tensor(y)
        self.features = RandomFeatures(x.shape[1], self.n_features, self.gamma)
        self.readout = nn.Linear(self.n_features, int(t.max()) + 1)
        nn.init.zeros_(self.readout.weight)
        nn.init.zeros_(self.readout.bias)
        phi = self.features(x)

        opt = torch.optim.LBFGS(self.readout.parameters(), lr=1.0, max_iter=10,
                                line_search_fn="strong_wolfe")
        self.history = []

        def closure():
            opt.zero_grad()
            loss = nn.functional.cross_entropy(self.readout(phi), t)
            loss = loss + self.ridge * self.readout.weight.pow(2).sum()
            loss.backward()
            return loss

        for _ in range(self.max_iter):
            self.history.append(opt.step(closure).item())
        return self

    def predict(self, X):
        with torch.no_grad():
            return self.readout(self.features(self._prepare(X))).argmax(1).numpy()

    def _prepare(self, X):
        return torch.tensor((X - self.mean) / self.std, dtype=torch.float32)


def main():
    torch.manual_seed(2)
    X, y = load_wine(return_X_y=True)
    scores = []
    for fold, (tr, te) in enumerate(StratifiedKFold(5, shuffle=True, random_state=2).split(X, y)):
        clf = KernelClassifier().fit(X[tr], y[tr])
        acc = accuracy_score(y[te], clf.predict(X[te]))
        print(f"fold {fold}  loss {clf.history[0]:.3f} -> {clf.history[-1]:.3f}  accuracy {acc:.3f}")
        scores.append(acc)
    print(f"mean accuracy {np.mean(scores):.3f}   majority class {np.bincount(y).max() / len(y):.3f}")


if __name__ == "__main__":
    main()
