import numpy as np
import torch
from torch import nn
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

torch.manual_seed(12)


class Scorer:
    def __init__(self, features, hidden=64, rate=0.3, passes=40):
        self.net = nn.Sequential(nn.Linear(features, hidden), nn.ReLU(), nn.Dropout(rate),
                                 nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(rate), nn.Linear(hidden, 1))
        self.passes = passes

    def fit(self, x, y, epochs=25):
        weight = torch.tensor((y == 0).sum() / (y == 1).sum(), dtype=torch.float32)
        loss_fn = nn.BCEWithLogitsLoss(pos_weight=weight, reduction="sum")
        opt = torch.optim.AdamW(self.net.parameters(), lr=2e-3, weight_decay=0.05)
        xt, yt = torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)
        self.net.train()
        for _ in range(epochs):
            total = 0.0
            for idx in torch.randperm(len(yt)).split(32):
                loss = loss_fn(self.net(xt[idx]).squeeze(1), yt[idx])
                (loss / len(idx)).backward()
                opt.step()
                opt.zero_grad()
                total += loss.item()
        return total / len(yt)

    @torch.no_grad()
    def predict(self, x):
        xt = torch.tensor(x, dtype=torch.float32)
        self.net.train()
        draws = torch.stack([torch.sigmoid(self.net(xt)).squeeze(1) for _ in range(self.passes)])
        return draws.mean(0).numpy(), draws.std(0).numpy()


data = load_breast_cancer()
x, y = data.data, data.target
accs, sure_accs, losses, shares = [], [], [], []
for fold, (tr, te) in enumerate(StratifiedKFold(5, shuffle=True, random_state=1).split(x, y)):
    scaler = StandardScaler().fit(x[tr])
    scorer = Scorer(x.shape[1])
    losses.append(scorer.fit(scaler.transform(x[tr]), y[tr]))
    mean, spread = scorer.predict(scaler.transform(x[te]))
    right = (mean > 0.5) == y[te]
    sure = spread < np.quantile(spread, 0.8)
    accs.append(right.mean())
    sure_accs.append(right[sure].mean())
    print(f"fold {fold}  train loss {losses[-1]:.4f}  accuracy {accs[-1]:.3f}  "
          f"most certain 80%: {sure_accs[-1]:.3f}")
print(f"mean accuracy {np.mean(accs):.3f} (majority {max(y.mean(), 1 - y.mean()):.3f}), "
      f"certain part {np.mean(sure_accs):.3f}")
