#!/usr/bin/env python
"""Which sluice gates jam this winter? Gate log -> one feature row per gate -> small MLP. (internal tool)"""
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SEED = 23
N_GATES = 1400
LOGS_PER_GATE = 12


def read_gates(rng):
    """Inspection list as the office keeps it."""
    gate = rng.permutation(np.arange(10_000, 10_000 + N_GATES))
    age = rng.uniform(1, 60, N_GATES)
    silt = rng.gamma(2.0, 1.5, N_GATES)
    strain = rng.normal(0, 1, N_GATES)
    hidden = 0.06 * (age - 30) + 0.8 * (silt - 3) + 1.3 * strain
    jammed = (hidden + rng.normal(0, 0.5, N_GATES) > 0.4).astype("float32")
    return pd.DataFrame({"gate": gate, "age": age, "silt": silt, "strain": strain, "jammed": jammed})


def read_log(gates, rng):
    """Motor log: several rows per gate."""
    log = gates.loc[gates.index.repeat(LOGS_PER_GATE), ["gate", "age", "silt", "strain"]].reset_index(drop=True)
    log["current"] = 4 + 0.7 * log.strain + 0.3 * log.silt + rng.normal(0, 0.6, len(log))
    log["seconds"] = 30 + 5 * log.silt + 0.2 * log.age + rng.normal(0, 4, len(log))
    log["slip"] = 0.4 * log.strain + rng.normal(0, 0.5, len(log))
    log["years"] = log.age + rng.normal(0, 1, len(log))
    return log[["gate", "current", "seconds", "slip", "years"]].sample(frac=1.0, random_state=SEED)


def build_table(log, gates):
    per_gate = log.groupby("gate").agg(
        current_mean=("current", "mean"),
        current_max=("current", "max"),
        seconds_mean=("seconds", "mean"),
        seconds_std=("seconds", "std"),
        slip_mean=("slip", "mean"),
        years=("years", "median"),
    )
    x = per_gate.to_numpy("float32")
    y = gates["jammed"].to_numpy("float32")
    return x, y


class GateNet(nn.Module):
    def __init__(self, n_in):
        super().__init__()
        self.net = nn.Sequential(
            nn.BatchNorm1d(n_in),
            nn.Linear(n_in, 32),
            nn.SiLU(),
            nn.Dropout(0.1),
            nn.Linear(32, 1),
        )

    def forward(self, x):
        return self.net(x)[:, 0]


def run_epoch(model, loader, optimizer=None):
    model.train(optimizer is not None)
    losses, hits, n = 0.0, 0, 0
    for xb, yb in loader:
        with torch.set_grad_enabled(optimizer is not None):
            logit = model(xb)
            loss = nn.functional.binary_cross_entropy_with_logits(logit, yb)
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        losses += loss.item() * len(yb)
        hits += ((logit > 0) == yb.bool()).sum().item()
        n += len(yb)
    return losses / n, hits / n


def main():
    rng = np.random.default_rng(SEED)
    torch.manual_seed(SEED)
    gates = read_gates(rng)
    x, y = build_table(read_log(gates, rng), gates)
    cut = int(0.8 * len(x))
    order = rng.permutation(len(x))
    tr, va = order[:cut], order[cut:]
    mean, std = x[tr].mean(0), x[tr].std(0)
    x = (x - mean) / std
    make = lambda idx, shuffle: DataLoader(
        TensorDataset(torch.from_numpy(x[idx]), torch.from_numpy(y[idx])), batch_size=32, shuffle=shuffle
    )
    train, valid = make(tr, True), make(va, False)
    model = GateNet(x.shape[1])
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=8, gamma=0.5)
    for epoch in range(20):
        tl, ta = run_epoch(model, train, optimizer)
        vl, va_acc = run_epoch(model, valid)
        scheduler.step()
        if epoch % 4 == 3:
            print(f"{epoch + 1:02d} train {tl:.3f}/{ta:.3f} valid {vl:.3f}/{va_acc:.3f}")
    print(f"share jammed {y.mean():.2f}; final validation accuracy {va_acc:.3f}")


if __name__ == "__main__":
    main()
