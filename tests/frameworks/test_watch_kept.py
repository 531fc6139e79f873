"""Weights that are kept as references, rates that a schedule leaves, and scales that no optimizer holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.frameworks.watch import asked_names, parsed, references, written
from tests.frameworks import test_watch_keras as small
from tests.frameworks.watching import HEAD, found, watch

BEST = HEAD + """
best, kept = 0.0, None
for epoch in range(400):
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
    with torch.no_grad():
        right = sum(int((model(xb).argmax(1) == yb).sum()) for xb, yb in test) / 80
    if right > best:
        KEEP
model.load_state_dict(PUT)
"""


@pytest.mark.parametrize(("keep", "put", "fault"), [
    ("best, kept = right, model.state_dict()", "kept", True),
    ("best = right; kept = {'score': right, 'model': model.state_dict()}", "kept['model']", True),
    ("best = right; kept = {name: value.clone() for name, value in model.state_dict().items()}", "kept", False),
    ("import copy; best, kept = right, copy.deepcopy(model.state_dict())", "kept", False)])
def test_a_script_that_was_not_watched_to_its_end_is_read(tmp_path: Path, keep: str, put: str, *, fault: bool) -> None:
    seen = watch(tmp_path, BEST.replace("KEEP", keep).replace("PUT", put), steps=40, further_seconds=0.2)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("A702" in found(seen)) is fault
    if fault:
        assert seen.restored is not None
        assert seen.restored.site is not None
        assert keep.split(";", maxsplit=1)[0] in seen.restored.site.source


def test_weights_that_another_model_gets_are_no_best_ones(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("if step % 10 == 0:\n    state = online.state_dict()\n    target.load_state_dict(state)\n")
    assert references.kept(path) == []


SLOW = HEAD + """
y = (X[:, 0] * X[:, 1]) + (X[:, 2] * X[:, 3])
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
schedule = SCHEDULE
for epoch in range(60):
    for at in range(0, 320, 16):
        loss = F.mse_loss(model(X[at:at + 16])[:, 0], y[at:at + 16])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        INNER
    OUTER
"""
STEP = "schedule.step()"
SCHEDULES = {"worn out": ("torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.93)", STEP, "pass", True),
             "by epochs": ("torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.93)", "pass", STEP, False),
             "slowly": ("torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9985)", STEP, "pass", False),
             "a cycle of rows": ("torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-3, total_steps=60 * 320)", STEP, "pass", True),
             "a cycle of steps": ("torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=60 * 20)", STEP, "pass", False)}


@pytest.mark.parametrize("name", SCHEDULES)
def test_what_a_schedule_leaves_a_training(tmp_path: Path, name: str) -> None:
    made, inner, outer, fault = SCHEDULES[name]
    seen = watch(tmp_path, SLOW.replace("SCHEDULE", made).replace("INNER", inner).replace("OUTER", outer), steps=60, probe_seconds=4.0)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("S402" in found(seen)) is fault, (found(seen), seen.optimizer)


DECAY = """
import numpy as np, keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(1280, 8)).astype("float32")
y = (np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2]).astype("float32")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
rate = keras.optimizers.schedules.ExponentialDecay(2e-3, decay_steps=STEPS, decay_rate=0.5)
model.compile(keras.optimizers.Adam(rate), "mse")
model.fit(x, y, batch_size=16, epochs=20, verbose=0)
"""


@pytest.mark.parametrize("steps", [6, 480])
def test_a_decay_of_keras_counts_steps(tmp_path: Path, steps: int) -> None:
    pytest.importorskip("keras")
    seen = small.watch(tmp_path, DECAY.replace("STEPS", str(steps)), steps=60, probe_seconds=4.0)
    assert ("S402" in found(seen)) is (steps == 6), seen.optimizer


class Taking:
    def __init__(self) -> None:
        self.names = ["amount", "days"]

    def forward(self, input_ids: object, **fields: object) -> object:
        return [fields.get(name) for name in self.names], input_ids


class Handing(Taking):
    def forward(self, input_ids: object, **fields: object) -> object:
        return print(input_ids, **fields)  # type: ignore[call-overload]


def test_names_that_a_model_keeps_in_a_list() -> None:
    assert asked_names.of(Taking(), ["amount", "other"]) == ["amount"]
    assert asked_names.of(Handing(), ["amount", "other"]) == []


def test_names_of_its_parts() -> None:
    torch = pytest.importorskip("torch")

    class Parts(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.numeric = torch.nn.ModuleDict({"amount": torch.nn.Linear(1, 2)})

        def forward(self, input_ids: object, **fields: object) -> object:
            return [layer(fields[name]) for name, layer in self.numeric.items() if name in fields], input_ids

    assert asked_names.of(Parts(), ["amount", "numeric_0"]) == ["amount"]


def test_what_is_written_into_a_name_that_is_handed_on(tmp_path: Path) -> None:
    path = tmp_path / "collate.py"
    path.write_text("def collate(rows):\n    dec = full(len(rows))\n    for at, row in enumerate(rows):\n        dec[at] = row\n"
                    "    return {'labels': dec}\n")
    names: dict[str, object] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    parsed.tree(str(path))
    from harness.frameworks.watch.sites import Sites

    place = written.column(names["collate"].__code__, ("labels",), Sites(path))  # type: ignore[attr-defined]
    assert place is not None
    assert place[1] == 4


@pytest.mark.parametrize(("width", "noted"), [(2.0, True), (0.02, False)])
@pytest.mark.parametrize(("kind", "sizes"), [("DistilBert", "dim=16, hidden_dim=16, n_heads=2, n_layers=1"), (
    "Bert", "hidden_size=16, intermediate_size=16, num_attention_heads=2, num_hidden_layers=1")])  # told before, and after its base class
def test_where_a_configuration_says_how_wide_weights_are_drawn(tmp_path: Path, kind: str, sizes: str, width: float, *,
                                                               noted: bool) -> None:
    pytest.importorskip("transformers")
    text = (f"from transformers import {kind}Config, {kind}Model\nconfig = {kind}Config(\n    vocab_size=20, {sizes},\n"
            f"    initializer_range={width},\n)\nmodel = {kind}Model(config)\n")
    seen = watch(tmp_path, text)
    assert ("weights_drawn" in seen.sites) is noted
    assert not noted or seen.sites["weights_drawn"].line == 4
