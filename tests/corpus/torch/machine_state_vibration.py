"""Operating state (idle / load / overload / imbalance) from short vibration windows of 24 machines.

Every machine passes through all states, so the state changes from window to window. The plant only
wants states on machines it already has (row split); new machines are checked with GroupKFold.
"""
import numpy as np
import torch
from sklearn.metrics import f1_score
from sklearn.model_selection import GroupKFold, train_test_split
from torch import nn

STATES = ["idle", "load", "overload", "imbalance"]
N_MACHINES, PER_MACHINE, WIN = 24, 90, 128


def simulate(seed=4):
    rng = np.random.default_rng(seed)
    t = np.arange(WIN) / 256.0
    rows, states, machines = [], [], []
    for m in range(N_MACHINES):
        f0, gain, tilt = rng.uniform(18, 26), rng.uniform(0.7, 1.4), rng.normal(0, 0.3)
        for _ in range(PER_MACHINE):
            s = rng.integers(len(STATES))
            f = f0 * (1 + 0.02 * rng.standard_normal())
            ph = rng.uniform(0, 2 * np.pi, 3)
            amp = {0: (0.4, 0.05, 0.0), 1: (1.0, 0.3, 0.05), 2: (1.0, 0.9, 0.5), 3: (2.0, 0.3, 0.05)}[int(s)]
            amp = np.array(amp) * rng.uniform(0.75, 1.25, 3)
            w = sum(a * np.sin(2 * np.pi * f * (k + 1) * t + p) for k, (a, p) in enumerate(zip(amp, ph)))
            w = gain * w + tilt + 0.5 * rng.standard_normal(WIN)
            rows.append(w)
            states.append(s)
            machines.append(m)
    return np.asarray(rows, np.float32)[:, None], np.asarray(states), np.asarray(machines)


class StateNet(nn.Module):
    def __init__(self, c=24):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(1, c, 15, stride=2, padding=7), nn.GroupNorm(4, c), nn.GELU(),
            nn.Conv1d(c, c, 7, stride=2, padding=3), nn.GroupNorm(4, c), nn.GELU(),
        )
        self.out = nn.Linear(2 * c, len(STATES))

    def forward(self, x):
        h = self.conv(x)
        return self.out(torch.cat([h.mean(-1), h.amax(-1)], 1))


def fit_predict(x_tr, y_tr, x_te, epochs=8, seed=0, verbose=False):
    torch.manual_seed(seed)
    mu, sd = x_tr.mean(), x_tr.std()  # one scalar each, from the training rows only
    x_tr, x_te = torch.from_numpy((x_tr - mu) / sd), torch.from_numpy((x_te - mu) / sd)
    y_tr = torch.from_numpy(y_tr)
    net = StateNet()
    opt = torch.optim.RAdam(net.parameters(), lr=6e-3)
    for ep in range(epochs):
        net.train()
        tot = 0.0
        for idx in torch.randperm(len(x_tr)).split(64):
            loss = nn.functional.cross_entropy(net(x_tr[idx]), y_tr[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item() * len(idx)
        if verbose and ep % 2 == 1:
            print(f"  epoch {ep + 1} loss {tot / len(x_tr):.4f}")
    net.eval()
    with torch.no_grad():
        return net(x_te).argmax(1).numpy()


if __name__ == "__main__":
    x, y, machine = simulate()
    print("windows", x.shape, "states", np.bincount(y), "machines", len(set(machine)))

    tr, te = train_test_split(np.arange(len(x)), test_size=0.25, stratify=y, random_state=1)
    pred = fit_predict(x[tr], y[tr], x[te], verbose=True)
    print(f"known machines: acc {np.mean(pred == y[te]):.4f} macro F1 {f1_score(y[te], pred, average='macro'):.4f}")

    accs = []
    for k, (a, b) in enumerate(GroupKFold(n_splits=3).split(x, y, groups=machine)):
        assert not set(machine[a]) & set(machine[b])
        p = fit_predict(x[a], y[a], x[b], seed=k)
        accs.append(np.mean(p == y[b]))
    print("new machines: acc per fold", np.round(accs, 4), f"mean {np.mean(accs):.4f}")
    print(f"majority class {np.bincount(y[te]).max() / len(te):.4f}")
