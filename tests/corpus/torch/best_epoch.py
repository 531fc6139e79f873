import numpy as np, torch
from torch import nn
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score, log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

np.random.seed(0); torch.manual_seed(0)

# customer churn (simulated): few rows, many columns
X, y = make_classification(n_samples=1500, n_features=60, n_informative=8, n_redundant=4,
                           flip_y=0.12, class_sep=0.8, random_state=4)
X_tr, X_rest, y_tr, y_rest = train_test_split(X, y, train_size=450, stratify=y, random_state=4)
X_va, X_te, y_va, y_te = train_test_split(X_rest, y_rest, test_size=0.5, stratify=y_rest, random_state=4)
sc = StandardScaler()
X_tr = torch.tensor(sc.fit_transform(X_tr)).float()
X_va = torch.tensor(sc.transform(X_va)).float()
X_te = torch.tensor(sc.transform(X_te)).float()
t_tr = torch.tensor(y_tr).float().view(-1, 1)


class KeepBest:
    def __init__(self):
        self.score = np.inf
        self.epoch = None
        self.weights = None

    def __call__(self, epoch, score, net):
        if score < self.score:
            self.score, self.epoch = score, epoch
            self.weights = net.state_dict().copy()

    def put_back(self, net):
        net.load_state_dict(self.weights)
        return net


def proba(net, X):
    net.eval()
    with torch.no_grad():
        return torch.sigmoid(net(X)).numpy().ravel().astype("float64")


net = nn.Sequential(nn.Linear(60, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
crit = nn.BCEWithLogitsLoss()
keep = KeepBest()

EPOCHS, BS = 120, 32
for ep in range(EPOCHS):
    net.train()
    perm = torch.randperm(len(X_tr))
    tot = 0
    for i in range(0, len(perm), BS):
        idx = perm[i:i + BS]
        opt.zero_grad()
        loss = crit(net(X_tr[idx]), t_tr[idx])
        loss.backward()
        opt.step()
        tot += loss.item() * len(idx)
    p = proba(net, X_va)
    vl = log_loss(y_va, p)
    keep(ep, vl, net)
    if ep % 10 == 0 or ep == EPOCHS - 1:
        print("ep %3d | train %.4f | val loss %.4f | val auc %.4f" % (ep, tot / len(X_tr), vl, roc_auc_score(y_va, p)))

net = keep.put_back(net)
print("best epoch %d with val loss %.4f" % (keep.epoch, keep.score))
p_va, p_te = proba(net, X_va), proba(net, X_te)
print("after restore: val loss %.4f, val auc %.4f" % (log_loss(y_va, p_va), roc_auc_score(y_va, p_va)))
print("submission:    test loss %.4f, test auc %.4f" % (log_loss(y_te, p_te), roc_auc_score(y_te, p_te)))
