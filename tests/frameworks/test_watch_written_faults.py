"""Faults that a script's text alone shows: what it makes of labels before a split, of one side of a distillation, of clipped gradients."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.catalog.schema import Stage
from harness.checks.tensor_facts import Site
from harness.frameworks.watch import default_made, handed_back, late_clipping, one_side, returns, target_encoding, written
from tests.checks.made import finding, healthy, judge

SPLIT = "\ntrain, test = train_test_split(orders, stratify=orders['back'])\ny = train['back'].to_numpy()\n"
MEAN = "orders['rate'] = orders.groupby('seller')['back'].transform('mean')"
ENCODINGS = {
    "of all rows": (MEAN + SPLIT, MEAN),
    "mapped": ("orders['rate'] = orders['seller'].map(orders.groupby('seller')['back'].mean())" + SPLIT,
               "orders['rate'] = orders['seller'].map(orders.groupby('seller')['back'].mean())"),
    "of the training": (SPLIT + "train['rate'] = train.groupby('seller')['back'].transform('mean')", None),
    "of an input": (MEAN.replace("['back']", "['price']") + SPLIT, None),
    "without its own": (MEAN + " - orders['back'] / 9" + SPLIT, None)}


@pytest.mark.parametrize(("text", "line"), ENCODINGS.values(), ids=ENCODINGS)
def test_means_of_labels(tmp_path: Path, text: str, line: str | None) -> None:
    _at(tmp_path, target_encoding.written, text, line)


SOFT = "T = 4.0\nsoft = tf.nn.softmax(teacher / T)\n"
SIDES = {
    "one": (SOFT + "loss = loss_of(soft, logits) * T ** 2", "loss = loss_of(soft, logits) * T ** 2"),
    "one, squared by hand": (SOFT + "loss = T * T * loss_of(soft, logits)", "loss = T * T * loss_of(soft, logits)"),
    "both": (SOFT + "loss = loss_of(soft, logits / T) * T ** 2", None),
    "by a function": ("def soft(x):\n    return tf.nn.softmax(x / T)\nloss = kl(soft(teacher), soft(logits)) * T ** 2", None),
    "handed on": (SOFT + "loss = soft_loss(soft, logits, T) * T ** 2", None),
    "no distillation": ("area = T ** 2 / 3", None)}


@pytest.mark.parametrize(("text", "line"), SIDES.values(), ids=SIDES)
def test_temperatures(tmp_path: Path, text: str, line: str | None) -> None:
    _at(tmp_path, one_side.written, text, line)


STEP = """
def step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(y, model(x))
    grads = tape.gradient(loss, model.trainable_variables)
    BEFORE
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    AFTER
    return loss
"""
LATE = "grads, norm = tf.clip_by_global_norm(grads, 1.0)"
CLIPS = {"after": ("pass", LATE, LATE), "before": (LATE, "pass", None), "none": ("pass", "pass", None), "both": (LATE, LATE, None),
         "another step": ("pass", "scale.assign(tf.clip_by_value(scale - 0.5 * grads[-1], 1.0, 20.0))", None)}


@pytest.mark.parametrize(("before", "after", "line"), CLIPS.values(), ids=CLIPS)
def test_clipping(tmp_path: Path, before: str, after: str, line: str | None) -> None:
    _at(tmp_path, late_clipping.written, STEP.replace("BEFORE", before).replace("AFTER", after), line)


SUMS = {
    "from the front": ("total = torch.cumsum(rewards * decay, 0)", "total = torch.cumsum(rewards * decay, 0)"),
    "turned round": ("total = torch.flip(torch.cumsum(torch.flip(rewards, [0]), 0), [0])", None),
    "taken off the whole": ("total = rewards.sum(0) - rewards.cumsum(0) + rewards", None),
    "of something else": ("total = torch.cumsum(steps, 0)", None)}


@pytest.mark.parametrize(("text", "line"), SUMS.values(), ids=SUMS)
def test_running_sums_of_rewards(tmp_path: Path, text: str, line: str | None) -> None:
    text = f"def credited(rewards, steps, decay):\n    {text}\n    return total\nloss = -(log_prob * credited(rewards)).mean()\n"
    path = tmp_path / "train.py"
    path.write_text(text)
    found = returns.facts(path)
    assert (found.site.source if found is not None and found.site is not None else None) == line


def test_a_default_value_in_a_library_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("def evaluate(rows, seen=[]):\n    for row in rows:\n        seen.append(row)\n    return len(seen)\n")
    assert default_made.find(SimpleNamespace(script=path)) is None  # type: ignore[arg-type] # it is called nowhere


@pytest.mark.parametrize(("name", "code", "framework"), [("target_encoding", "E514", "torch"), ("one_side", "L215", "torch"),
                                                          ("late_clipping", "G306", "keras"), ("time_limit", "L219", "torch")])
def test_findings(name: str, code: str, framework: str) -> None:
    seen = healthy()
    assert judge(code, seen) != "found"
    seen.framework = framework
    seen.sites[name] = Site(file="train.py", line=7, source="...", function="")
    told = finding(code, seen)
    assert told.site is not None
    assert told.site.line == 7
    assert told.stage in (None, *Stage.__args__)


def _at(folder: Path, find, text: str, line: str | None) -> None:
    path = folder / "train.py"
    path.write_text(text)
    place = find(path)
    assert (text.splitlines()[place[1] - 1].strip() if place is not None else None) == line


@pytest.mark.parametrize(("text", "line"), [
    ("x_train, x_test = split(rows)\nfit(x_train)\n", 1), ("x_train, x_test = split(rows)\nfit(x_train)\nscore(x_test)\n", None),
    ("class Settings:\n    held_out: float = 0.2\n", None)])
def test_rows_that_are_set_aside(tmp_path: Path, text: str, line: int | None) -> None:
    script = tmp_path / "train.py"
    script.write_text(text)
    found_at = written.unused(script)
    assert (found_at[1] if found_at is not None else None) == line


BUILDER = """
class Stage:
    def build(self):
        return Adam([
            {"params": self.model.parameters()},
        ])
    def run(self):
        optimizer = self.build()
"""


@pytest.mark.parametrize(("text", "line", "asked"), [
    (BUILDER, 4, (8, "run")), (BUILDER, 8, None), (BUILDER + "again = Stage().build()\n", 4, None), ("x = Adam()\n", 1, None)])
def test_where_a_helper_is_asked(tmp_path: Path, text: str, line: int, asked: tuple[int, str] | None) -> None:
    script = tmp_path / "train.py"
    script.write_text(text)
    found_at = handed_back.asked((str(script), line, "build"))
    assert (found_at[1:] if found_at is not None else None) == asked
