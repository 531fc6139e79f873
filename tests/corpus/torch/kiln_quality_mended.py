import numpy as np
import torch
import torch.nn as nn


def kiln_runs(n, rng):
    peak = rng.normal(1180, 60, n)          # deg C
    soak = rng.normal(340, 70, n)           # minutes
    fan = rng.normal(1450, 220, n)          # rpm
    gas = rng.normal(2600, 300, n)          # litres
    weight = rng.normal(780, 120, n)        # kg
    z = lambda v: (v - v.mean()) / v.std()
    heat = z(peak) + 0.7 * z(soak)
    air = z(fan) - 0.6 * z(gas)
    quality = np.select([heat + 0.5 * air > 0.9, heat - 0.4 * z(weight) < -0.9, heat * air > 0.4], [0, 1, 2], default=3)
    X = np.stack([peak, soak, fan, gas, weight], axis=1).astype(np.float32)
    return X, quality.astype(np.int64)


class Batches:
    def __init__(self, X, y, size, shuffle=True):
        self.X, self.y, self.size, self.shuffle = X, y, size, shuffle

    def __iter__(self):
        idx = torch.randperm(len(self.X)) if self.shuffle else torch.arange(len(self.X))
        for part in idx.split(self.size):
            yield self.X[part], self.y[part]


def prepare(X_train, X_valid):
    X_train, X_valid = torch.from_numpy(X_train), torch.from_numpy(X_valid)
    mean, std = X_train.mean(0), X_train.std(0)
    return (X_train - mean) / std, (X_valid - mean) / std


def build():
    return nn.Sequential(
        nn.Linear(5, 64), nn.Tanh(),
        nn.Linear(64, 64), nn.Tanh(),
        nn.Linear(64, 4),
    )


def evaluate(model, batches, loss_fn):
    model.eval()
    right = total = loss_sum = 0
    with torch.no_grad():
        for xb, yb in batches:
            out = model(xb)
            loss_sum += loss_fn(out, yb).item() * len(yb)
            right += (out.argmax(1) == yb).sum().item()
            total += len(yb)
    return loss_sum / total, right / total


def run(seed=1, epochs=45):
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    X, y = kiln_runs(6000, rng)
    Xt, Xv = prepare(X[:5000], X[5000:])
    yt, yv = torch.from_numpy(y[:5000]), torch.from_numpy(y[5000:])
    train, valid = Batches(Xt, yt, 32), Batches(Xv, yv, 500, shuffle=False)
    model = build()
    loss_fn = nn.CrossEntropyLoss()
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    print("majority share", float(yv.bincount().max()) / len(yv))
    for epoch in range(epochs):
        model.train()
        running = 0.0
        for xb, yb in train:
            opt.zero_grad(set_to_none=True)
            loss = loss_fn(model(xb), yb)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
            running += loss.item() * len(yb)
        if epoch % 3 == 0 or epoch == epochs - 1:
            vl, va = evaluate(model, valid, loss_fn)
            print(f"[{epoch:02d}] train {running / 5000:.4f} | valid {vl:.4f} acc {va:.3f}")


if __name__ == "__main__":
    run()
