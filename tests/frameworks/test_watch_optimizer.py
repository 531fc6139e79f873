"""An optimizer that gets nowhere at any rate, where Adam does: found by taking the steps again."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_restraints import FIT, KERAS, torch_text
from tests.frameworks.watching import found, watch

# A step of its own, in the wrong direction.
UPHILL_TORCH = """
class Plain(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})
    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for weight in group["params"]:
                weight.add_(weight.grad, alpha=group["lr"])
optimizer = Plain(model.parameters(), 1e-3)
"""
UPHILL_KERAS = """
class Plain(keras.optimizers.Optimizer):
    def __init__(self, learning_rate=1e-3, name="plain", **kwargs):
        super().__init__(learning_rate=learning_rate, name=name, **kwargs)
    def update_step(self, gradient, variable, learning_rate):
        variable.assign_add(gradient * keras.ops.cast(learning_rate, variable.dtype))
optimizer = Plain()
"""


def test_torch(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = torch_text(epochs=4).replace("optimizer = torch.optim.Adam(model.parameters(), 1e-2)\n", UPHILL_TORCH)
    seen = watch(tmp_path, text, steps=100, probe_seconds=9, seconds=120)
    assert found(seen) == ["S407"], (found(seen), seen.probes.restraints, seen.probes.skipped)
    finding = next(result.finding for result in walk(seen) if result.finding)
    assert finding is not None
    assert finding.message.startswith("Plain gets nowhere")
    assert finding.site is not None
    assert finding.site.source.startswith("optimizer = Plain(")


def test_fit_of_keras(tmp_path: Path) -> None:
    pytest.importorskip("keras")
    text = (KERAS + FIT).replace("NAME", "keras").replace("DROPPED", "0.1").replace("BEFORE", "").replace("KERNEL", "").replace(
        "optimizer = keras.optimizers.OPTIMIZER\n", UPHILL_KERAS).replace("epochs=5", "epochs=4")
    seen = watch(tmp_path, text, steps=120, probe_seconds=9, seconds=120)
    assert found(seen) == ["S407"], (found(seen), seen.probes.restraints, seen.probes.skipped)


@pytest.mark.parametrize("rate", ["1e-6", "0.05"], ids=["another rate would do", "it learns"])
def test_plain_steps_that_only_want_another_rate(tmp_path: Path, rate: str) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, torch_text(optimizer=f"SGD(model.parameters(), {rate})", epochs=8), steps=150, probe_seconds=6, seconds=90)
    assert "S407" not in found(seen)
    assert all(restraint.kind != "optimizer" for restraint in seen.probes.restraints)
