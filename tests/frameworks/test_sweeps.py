"""Rates of which a script tries several: told off its text, and not judged one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.checks.tensor_facts import Site
from harness.frameworks.watch import sweeps
from tests.frameworks.watching import HEAD, found, watch

ONE = "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)"
HELPER = """
def run(rate, epochs=2):
    model = build()
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
"""
FOLDS = "for fold, (train, test) in enumerate(folds):\n    "
OBJECT = """
class Trial:
    def __init__(self, width, rate):
        self.width = width
        self.rate = rate
    def run(self):
        optimizer = torch.optim.SGD(model.parameters(), self.rate)
"""


@pytest.mark.parametrize(("text", "tried"), [
    (ONE, False), (FOLDS + ONE, False), (f"rate = 0.1\n{FOLDS}{ONE.replace('0.1', 'rate')}", False),
    (f"for rate in [1e-5, 1e-3]:\n    {ONE.replace('0.1', 'rate')}", True),
    (f"for power in range(5):\n    {ONE.replace('0.1', '10 ** -power')}", True),
    (f"for power in range(5):\n    rate = 10 ** -power\n    {ONE.replace('0.1', 'rate')}", True),
    (f"for setting in settings:\n    {ONE.replace('lr=0.1', '**setting')}", True),
    (f"for setting in settings:\n    {ONE.replace('0.1', 'setting.rate')}", True),
    (f"for model in models:\n    {ONE}", False), (f"for model in models:\n    {ONE.replace('lr=0.1', '1e-3')}", False),
    (HELPER + "run(0.1)", False), (HELPER + FOLDS + "run(0.1)", False),
    (HELPER + "for rate in (0.1, 1):\n    run(rate)", True),
    (HELPER + "scores = {rate: run(rate=rate) for rate in (0.1, 1)}", True),
    (HELPER + "for epochs in (1, 2):\n    run(0.1, epochs)", False),
    (OBJECT + "for width in (8, 16):\n    Trial(width, 0.1).run()", False),
    (OBJECT + "for rate in (8, 16):\n    Trial(8, rate).run()", True),
    (f"for rate in rates:\n    {ONE.replace('lr=0.1', 'rate')}", True),
    (f"groups = [part for part in parts]\n{ONE.replace('model.parameters(), lr=0.1', 'groups')}", False),
    (ONE.replace("0.1", 'trial.suggest_float("rate", 1e-5, 1e-1)'), True), (ONE.replace("0.1", "rate if rate else rate"), False),
    (f"rows = [draw() for n in range(9)]\nsteps = len(rows)\n{ONE.replace('0.1', '1 / steps')}", False),
    (f"rows = [draw(n) for n in range(9)]\n{ONE.replace('0.1', '1 / len(rows)')}", False),
    ("rate = rate * 2\n" + ONE.replace("0.1", "rate"), False)])
def test_where_a_rate_comes_from(tmp_path: Path, text: str, *, tried: bool) -> None:
    path = tmp_path / "train.py"
    path.write_text(text + "\n")
    line = next(number for number, source in enumerate(text.splitlines(), 1) if "SGD(" in source)
    assert sweeps.tried(Site(file=str(path), line=line), 1) is tried
    assert not sweeps.tried(Site(file=str(path), line=line, cell=3), 1)
    assert not sweeps.tried(None, 1)


TRIES = HEAD + """
for rate in RATES:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    for epoch in range(EPOCHS):
        for xb, yb in train:
            optimizer.zero_grad()
            F.cross_entropy(model(xb), yb).backward()
            optimizer.step()
"""


@pytest.mark.parametrize("epochs", [1, 6])
@pytest.mark.parametrize(("rates", "codes"), [("[1e-6, 1e-3, 0.3]", []), ("[300.0, 3.0, 0.3]", []), ("[0.3]", [])])
def test_one_of_several_rates_is_not_judged(tmp_path: Path, rates: str, codes: list[str], epochs: int) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TRIES.replace("RATES", rates).replace("EPOCHS", str(epochs)))
    assert found(seen) == codes
    assert seen.optimizer is not None
    assert seen.optimizer.tried
    reasons = {result.code: result.reason or "" for result in walk(seen)}
    assert "several learning rates" in reasons["S401"] or seen.probes.skipped
