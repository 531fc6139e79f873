"""Running averages of weights that are asked in the model's place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.frameworks.watch.averages import Averages
from tests.frameworks.watching import HEAD, found, watch

TEXT = HEAD + """
import copy
average = copy.deepcopy(model).eval()
decay = DECAY
def follow(number):
    for kept, own in zip(average.parameters(), model.parameters()):
        kept.data.mul_(RATE).add_(own.data, alpha=1 - RATE)
number = 0
for epoch in range(5):
    model.train()
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
        number += 1
        follow(number)
model.eval()
with torch.no_grad():
    print((average(X[320:]).argmax(1) == y[320:]).float().mean())
"""
SWAPPED = HEAD + """
shadow = {name: weight.detach().clone() for name, weight in model.named_parameters()}
def evaluate():
    backup = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    for name, weight in model.named_parameters():
        weight.data.copy_(shadow[name])
    model.eval()
    with torch.no_grad():
        print((model(X[320:]).argmax(1) == y[320:]).float().mean())
    for name, weight in model.named_parameters():
        weight.data.copy_(backup[name])
for epoch in range(5):
    model.train()
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
        with torch.no_grad():
            for name, weight in model.named_parameters():
                shadow[name] = DECAY * shadow[name] + (1 - DECAY) * weight
    evaluate()
"""
AVERAGED = HEAD + """
average = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(DECAY))
for epoch in range(5):
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
        average.update_parameters(model)
average.eval()
with torch.no_grad():
    print((average(X[320:]).argmax(1) == y[320:]).float().mean())
"""
GROWING = "min(decay, (1 + number) / (10 + number))"


@pytest.mark.parametrize(("text", "decay", "rate", "fault"), [
    (TEXT, "0.999", "decay", True), (TEXT, "0.9", "decay", False), (TEXT, "0.999", GROWING, False), (SWAPPED, "0.999", "", True),
    (SWAPPED, "0.9", "", False), (AVERAGED, "0.999", "", True), (AVERAGED, "0.9", "", False)])
def test_an_average(tmp_path: Path, text: str, decay: str, rate: str, *, fault: bool) -> None:
    seen = watch(tmp_path, text.replace("DECAY", decay).replace("RATE", rate), steps=200, probe_seconds=1)
    assert seen.exception is None, seen.exception
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("E528" in found(seen)) == fault, seen.evaluation.average
    if fault:
        facts = seen.evaluation.average
        assert facts is not None
        assert facts.decay == pytest.approx(0.999, abs=1e-5)
        assert facts.updates in (99, 100)
        assert facts.site is not None


def test_an_earlier_state_is_no_average(tmp_path: Path) -> None:
    text = TEXT.replace("follow(number)", "if number == 20: average.load_state_dict(model.state_dict())").replace("DECAY", "0.999")
    seen = watch(tmp_path, text.replace("RATE", "decay"), steps=200, probe_seconds=1)
    assert seen.evaluation.average is None


@pytest.mark.parametrize(("epochs", "fault"), [(5, True), (400, False)])
def test_a_training_that_is_not_watched_to_its_end(tmp_path: Path, epochs: int, *, fault: bool) -> None:
    text = SWAPPED.replace("range(5)", f"range({epochs})").replace("DECAY", "0.999")
    seen = watch(tmp_path, text, probe_seconds=1)
    assert ("E528" in found(seen)) == fault, seen.evaluation.average


class Model:
    """One weight of three numbers."""

    def __init__(self, numbers: np.ndarray) -> None:
        self.weights = [numbers]


@pytest.mark.parametrize(("every", "wrong"), [(1, False), (10, True)])
def test_what_is_asked_in_every_step_is_not_what_is_evaluated(every: int, *, wrong: bool) -> None:
    followed = Averages(lambda model: model.weights, lambda weight, _most: weight.copy())
    rng = np.random.default_rng(0)
    model, average = Model(rng.normal(size=3)), Model(np.zeros(3))
    average.weights[0][:] = model.weights[0]
    followed.trains(model)
    for step in range(60):
        if step % every == 0:
            followed.asked(average, lambda: None)
        model.weights[0] += rng.normal(size=3) + 0.5
        followed.stepped()
        average.weights[0] += 0.001 * (model.weights[0] - average.weights[0])
    followed.asked(average, lambda: None)
    found = followed.facts(Path(__file__), planned=100, cut=True, whole=None)
    assert (found is not None) is wrong
    if found is not None:
        assert found.decay == pytest.approx(0.999, abs=1e-5)
