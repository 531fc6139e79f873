"""Time to readmission with censoring: neural proportional hazards, five folds, whole fold as one batch."""
import copy
import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(8)
torch.manual_seed(8)


def make_ward(n=900):
    x = rng.normal(size=(n, 8))
    log_hazard = 1.0 * x[:, 0] - 0.8 * x[:, 1] + 0.9 * (x[:, 2] * x[:, 3]) + 0.6 * np.maximum(x[:, 4], 0)
    event_time = rng.exponential(1 / (0.1 * np.exp(log_hazard)))
    leave = rng.exponential(14, n)
    return x.astype("f4"), np.minimum(event_time, leave).astype("f4"), (event_time <= leave)


def partial_likelihood(score, time, event):
    """Negative log partial likelihood (Breslow); sorted by falling time so that the risk set is a running sum."""
    order = torch.argsort(time, descending=True)
    s, e = score[order], event[order]
    at_risk = torch.logcumsumexp(s, 0)
    return -(s - at_risk)[e].mean()


def concordance(score, time, event):
    # pairs (i, j): i had its event before j's time
    earlier = (time[:, None] < time[None, :]) & event[:, None]
    diff = score[:, None] - score[None, :]
    wins = (diff > 0) + 0.5 * (diff == 0)
    return (wins * earlier).sum() / earlier.sum()


class Hazard(nn.Module):
    def __init__(self, d):
        super().__init__()
        # no bias at the end: a constant cancels in the partial likelihood
        self.net = nn.Sequential(nn.Linear(d, 32), nn.SELU(), nn.AlphaDropout(0.1), nn.Linear(32, 32), nn.SELU(),
                                 nn.Linear(32, 1, bias=False))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def fit_fold(xt, tt, et, xv, tv, ev, max_epochs=400, patience=40):
    net = Hazard(xt.shape[1])
    opt = torch.optim.AdamW(net.parameters(), lr=5e-3, weight_decay=0.05)
    best, best_state, waited = float("inf"), None, 0
    for epoch in range(max_epochs):
        net.train()
        loss = partial_likelihood(net(xt), tt, et)
        opt.zero_grad()
        loss.backward()
        opt.step()
        net.eval()
        with torch.no_grad():
            v = partial_likelihood(net(xv), tv, ev).item()
        if v < best - 1e-4:
            best, best_state, waited = v, copy.deepcopy(net.state_dict()), 0
        else:
            waited += 1
            if waited >= patience:
                break
    net.load_state_dict(best_state)
    net.eval()
    return net, epoch


X, T, E = make_ward()
print("events", E.mean().round(3), "median follow-up", np.median(T).round(2))
ids = rng.permutation(len(X))
folds = np.array_split(ids, 5)
results, linear = [], []
for k in range(5):
    test = folds[k]
    rest = np.concatenate([folds[j] for j in range(5) if j != k])
    val, train = rest[:120], rest[120:]
    m, s = X[train].mean(0), X[train].std(0)
    part = lambda i: (torch.from_numpy((X[i] - m) / s), torch.from_numpy(T[i]), torch.from_numpy(E[i]))
    members = [fit_fold(*part(train), *part(val)) for _ in range(3)]
    xs, ts, es = part(test)
    with torch.no_grad():
        score = torch.stack([net(xs) for net, _ in members]).mean(0).numpy()
    c = concordance(score, T[test], E[test])
    results.append(c)
    print(f"fold {k}: stopped at {[e for _, e in members]}, test concordance {c:.3f}")
truth = 1.0 * X[:, 0] - 0.8 * X[:, 1] + 0.9 * X[:, 2] * X[:, 3] + 0.6 * np.maximum(X[:, 4], 0)
print(f"mean {np.mean(results):.3f} +- {np.std(results):.3f}; with the true hazard {concordance(truth, T, E):.3f}")
