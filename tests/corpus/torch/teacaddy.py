"""Which plantation does a tea sample come from?  Five-fold check of a small network on near-infrared readings."""
import numpy as np
import torch
from sklearn.metrics import accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from torch import nn

SEED, FOLDS, EPOCHS, CLASSES, BANDS = 3, 5, 25, 6, 40
rng = np.random.default_rng(SEED)
torch.manual_seed(SEED)

y = rng.integers(0, CLASSES, 900)
templates = rng.normal(0, 1, (CLASSES, BANDS)).cumsum(1) * 0.25
X = templates[y] + rng.normal(0, 1.0, (900, BANDS))


class TeaNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(BANDS, 64)
        self.drop = nn.Dropout(0.3)
        self.out = nn.Linear(64, CLASSES)

    def forward(self, x):
        return self.out(self.drop(torch.relu(self.hidden(x))))


def run_epoch(model, opt, x, t, batch=32):
    model.train()
    order = torch.randperm(len(x))
    losses = []
    for i in range(0, len(x), batch):
        take = order[i:i + batch]
        loss = nn.functional.cross_entropy(model(x[take]), t[take])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return float(np.mean(losses))


def make(lr=2e-3):
    model = TeaNet()
    return model, torch.optim.Adam(model.parameters(), lr=lr, weight_decay=1e-4)


model, opt = make()
print(model)
print("parameters:", sum(p.numel() for p in model.parameters()))

scores = []
folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
for k, (tr, te) in enumerate(folds.split(X, y), 1):
    scaler = StandardScaler().fit(X[tr])
    x_tr = torch.tensor(scaler.transform(X[tr]), dtype=torch.float32)
    x_te = torch.tensor(scaler.transform(X[te]), dtype=torch.float32)
    t_tr = torch.tensor(y[tr])
    model = TeaNet()
    for epoch in range(EPOCHS):
        loss = run_epoch(model, opt, x_tr, t_tr)
    model.eval()
    with torch.no_grad():
        guess = model(x_te).argmax(1).numpy()
    scores.append(accuracy_score(y[te], guess))
    print(f"fold {k}: last training loss {loss:.3f}  accuracy {scores[-1]:.3f}")
print(f"mean accuracy {np.mean(scores):.3f} +- {np.std(scores):.3f}")
