import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

ACCUM = 4
MICRO_BATCH = 4
EPOCHS = 30


class WineNet(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.a = nn.Linear(n_in, 32)
        self.b = nn.Linear(32, n_out)
        self.drop = nn.Dropout(0.2)

    def forward(self, x):
        return torch.log_softmax(self.b(self.drop(torch.relu(self.a(x)))), dim=1)


def train_fold(x, y):
    net = WineNet(x.shape[1], 3)
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    loader = DataLoader(TensorDataset(x, y), batch_size=MICRO_BATCH, shuffle=True, drop_last=True)
    nll = nn.NLLLoss()
    opt.zero_grad()
    history = []
    micro = 0
    for epoch in range(EPOCHS):
        net.train()
        acc_loss = 0.0
        for xb, yb in loader:
            loss = nll(net(xb), yb) / ACCUM
            loss.backward()
            acc_loss += loss.item() * ACCUM
            micro += 1
            if micro % ACCUM == 0:
                opt.step()
                opt.zero_grad()
        history.append(acc_loss / len(loader))
    return net, history


def main():
    torch.manual_seed(0)
    X, y = load_wine(return_X_y=True)
    scores = []
    for k, (tr, te) in enumerate(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)):
        sc = StandardScaler().fit(X[tr])
        xt = torch.tensor(sc.transform(X[tr]), dtype=torch.float32)
        xv = torch.tensor(sc.transform(X[te]), dtype=torch.float32)
        net, hist = train_fold(xt, torch.tensor(y[tr]))
        net.eval()
        with torch.no_grad():
            acc = (net(xv).argmax(1).numpy() == y[te]).mean()
        scores.append(acc)
        print(f"fold {k}: loss {hist[0]:.3f} -> {hist[-1]:.3f}, accuracy {acc:.3f}")
    print(f"mean accuracy {np.mean(scores):.3f} (majority {np.bincount(y).max() / len(y):.3f})")


main()
