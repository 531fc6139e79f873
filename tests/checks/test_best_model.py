"""E507, on observations made by hand."""

from __future__ import annotations

import pytest

from harness.checks.evaluation_facts import MonitorFacts
from harness.checks.observation import Observation
from tests.checks.made import SITE, finding, healthy, judge


def following(measure: str, kind: str, *, greater: bool) -> Observation:
    seen = healthy()
    seen.evaluation.monitors = [MonitorFacts(kind=kind, measure=measure, greater=greater, site=SITE)]
    return seen


@pytest.mark.parametrize(("measure", "kind", "greater", "remedy"), [
    ("val_auc", "ModelCheckpoint", False, 'mode="max"'), ("val_loss", "EarlyStopping", True, 'mode="min"'),
    ("eval_rmse", "Trainer", True, "greater_is_better=False"), ("accuracy", "Trainer", False, "greater_is_better=True"),
    ("epoch_loss", "ReduceLROnPlateau", True, 'ReduceLROnPlateau(mode="min"'),
    ("metrics['valF1']", "ReduceLROnPlateau", False, 'mode="max"')])
def test_the_wrong_way_round(measure: str, kind: str, remedy: str, *, greater: bool) -> None:
    found = finding("E507", following(measure, kind, greater=greater))
    assert measure in found.message
    assert remedy in found.remedy
    assert found.site == SITE


@pytest.mark.parametrize(("measure", "greater"), [
    ("val_auc", True), ("val_loss", False), ("score", True), ("score", False), ("neg_mse", True), ("accuracy_loss", True),
    ("val_map", False), ("elbo_loss", True), ("loss", False), ("glossary", True)])
def test_the_right_way_or_no_telling(measure: str, *, greater: bool) -> None:
    assert judge("E507", following(measure, "ModelCheckpoint", greater=greater)) == "clean"


def test_silent_without_any() -> None:
    assert judge("E507", healthy()) == "clean"
