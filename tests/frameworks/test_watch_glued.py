"""Tables that are put side by side after the index of one was dropped."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import found, walk, watch

TEXT = """
import numpy as np, pandas as pd, torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
rng = np.random.default_rng(0)
ids = IDS
customers = pd.DataFrame({"customer": ids, "tenure": rng.normal(size=300), "churned": rng.integers(0, 2, 300)})
usage = pd.DataFrame({"customer": np.repeat(ids, 4), "gb": rng.normal(size=1200) + np.repeat(customers["churned"], 4)}).sample(frac=1.0)
def features(customers, usage):
    per_customer = pd.DataFrame({"gb": usage.groupby("customer")["gb"].mean(), "std": usage.groupby("customer")["gb"].std()})
    static = customers[["tenure"]]
    return JOINED
table = features(customers, usage)
x, y = torch.tensor(table[["gb", "std", "tenure"]].to_numpy(), dtype=torch.float32), torch.tensor(customers["churned"].to_numpy())
model = nn.Linear(3, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    for rows in torch.randperm(300).split(30):
        optimizer.zero_grad()
        F.cross_entropy(model(x[rows]), y[rows]).backward()
        optimizer.step()
"""
MIXED, SORTED = "rng.permutation(np.arange(1000, 1300))", "np.arange(1000, 1300)"
BESIDE = "pd.concat([per_customer.reset_index(drop=True), static.reset_index(drop=True)], axis=1)"


@pytest.mark.parametrize(("ids", "joined", "wrong"), [
    (MIXED, BESIDE, True), (MIXED, BESIDE.replace("axis=1", "axis='columns'"), True), (SORTED, BESIDE, False),
    (MIXED, BESIDE.replace("per_customer.reset", "per_customer.loc[customers['customer']].reset"), False),
    (MIXED, "customers.merge(per_customer.reset_index(), on='customer')", False)],
    ids=["two orders", "by name", "one order", "brought into it", "by the key"])
def test_features_of_two_tables(tmp_path: Path, ids: str, joined: str, *, wrong: bool) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("torch")
    seen = watch(tmp_path, TEXT.replace("IDS", ids).replace("JOINED", joined), steps=20, probe_seconds=0.0)
    assert seen.exception is None, seen.exception
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert (found(seen) == ["D106"]) is wrong, seen.glued
    assert (seen.glued is not None) is wrong
    if wrong:
        told = next(result.finding for result in walk(seen) if result.finding)
        assert told is not None
        assert told.site is not None
        assert told.site.source.startswith("return pd.concat(")
        assert "`customer`" in told.message
