"""Crowd-sourced labels: about a third of the training labels are wrong, the test labels were checked by experts."""
import argparse

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import make_classification
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import RobustScaler

parser = argparse.ArgumentParser()
parser.add_argument("--wrong", type=float, default=0.35)
parser.add_argument("--q", type=float, default=0.7)
parser.add_argument("--epochs", type=int, default=30)
parser.add_argument("--seed", type=int, default=1)
args = parser.parse_args()
torch.manual_seed(args.seed)
rng = np.random.default_rng(args.seed)

N_CLASSES = 5
X, y = make_classification(n_samples=5000, n_features=20, n_informative=12, n_redundant=4, n_classes=N_CLASSES,
                           n_clusters_per_class=1, class_sep=1.6, flip_y=0.0, random_state=args.seed)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=args.seed, stratify=y)
scaler = RobustScaler().fit(X_train)
X_train = torch.tensor(scaler.transform(X_train), dtype=torch.float32)
X_test = torch.tensor(scaler.transform(X_test), dtype=torch.float32)

crowd = y_train.copy()
bad = rng.random(len(crowd)) < args.wrong
crowd[bad] = (crowd[bad] + rng.integers(1, N_CLASSES, bad.sum())) % N_CLASSES
print(f"{len(crowd)} training rows, {np.mean(crowd != y_train):.1%} of the labels are wrong")
crowd = torch.from_numpy(crowd)


def bounded(logits, target):
    p = F.softmax(logits, dim=1).gather(1, target[:, None]).squeeze(1)
    return ((1.0 - p.clamp_min(1e-6) ** args.q) / args.q).mean()


def make_net():
    return torch.nn.Sequential(
        torch.nn.Linear(20, 96), torch.nn.BatchNorm1d(96), torch.nn.SiLU(),
        torch.nn.Linear(96, 96), torch.nn.BatchNorm1d(96), torch.nn.SiLU(),
        torch.nn.Linear(96, N_CLASSES))


def train(loss_fn):
    net = make_net()
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=5e-4)
    steps = args.epochs * (len(X_train) // 100)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.05, total_steps=steps)
    for epoch in range(args.epochs):
        net.train()
        seen = 0.0
        for idx in torch.randperm(len(X_train)).split(100):
            loss = loss_fn(net(X_train[idx]), crowd[idx])
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            sched.step()
            seen += loss.item() * len(idx)
        if epoch % 6 == 5:
            net.eval()
            with torch.no_grad():
                crowd_acc = accuracy_score(crowd, net(X_train).argmax(1))
                test_acc = accuracy_score(y_test, net(X_test).argmax(1))
            print(f"epoch {epoch + 1:3d}: loss {seen / len(X_train):.4f}, agrees with the crowd {crowd_acc:.3f}, "
                  f"with the experts {test_acc:.3f}")
    return net, test_acc


net, acc = train(bounded)
with torch.no_grad():
    agree = (net(X_train).argmax(1) == crowd).numpy()
print(f"expert-checked test accuracy {acc:.3f}")
print(f"wrong labels among the rows where net and crowd disagree: {bad[~agree].mean():.1%}")
