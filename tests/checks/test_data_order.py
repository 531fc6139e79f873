"""D107, on observations made by hand: rows in an order, and rows that only look so."""

from __future__ import annotations

import random

import pytest

from harness.checks.loss_facts import LossCall
from harness.checks.metric_facts import MetricFacts
from harness.checks.observation import Observation
from harness.checks.tensor_facts import TensorFacts
from tests.checks.made import SITE, finding, healthy, judge, steps


def unshuffled() -> Observation:
    seen = healthy()
    loader = seen.loaders[0]
    loader.shuffled, loader.label_runs, loader.ordered_rows = False, 0.995, 240
    seen.steps = steps([0.5] * 60, [[0] * 4] * 50 + [[0, 0, 1, 1]] + [[1] * 4] * 9)
    return seen


def test_sorted_rows() -> None:
    found = finding("D107", unshuffled())
    assert "100 %" in found.message or "99 %" in found.message
    assert "shuffle=True" in found.remedy


def test_a_buffer_that_is_too_small() -> None:
    seen = unshuffled()
    loader = seen.loaders[0]
    loader.label_runs, loader.label_counts = 0.82, {str(label): 100 for label in range(6)}
    seen.steps = steps([0.5] * 60, [[0, 1] * 8] * 60)  # two of six classes in every batch
    assert judge("D107", seen) == "found"
    seen.steps = steps([0.5] * 60, [[0, 1, 2, 3, 4] * 3] * 60)
    assert judge("D107", seen) == "clean"


def test_classes_that_have_not_come_up_yet() -> None:
    seen = unshuffled()
    loader = seen.loaders[0]
    loader.label_runs, loader.label_counts, seen.classes = 0.87, {"0": 100, "1": 100, "2": 100}, 5
    seen.steps = steps([0.5] * 60, [[0] * 16] * 28 + [[0, 1] * 8] * 32)  # 1.53 of them in a batch, which is half of three
    loader.rows = None
    assert judge("D107", seen) == "clean"
    loader.rows = 500
    assert judge("D107", seen) == "found"


def test_batches_of_one_label_that_take_turns() -> None:
    seen = unshuffled()
    seen.steps = steps([0.5] * 60, [[0] * 8, [1] * 8] * 30)  # a discriminator's: real rows, then made ones
    assert "take turns" in judge("D107", seen)


def test_batches_of_some_rows_of_some_classes_each() -> None:
    draw = random.Random(0)
    seen = unshuffled()
    seen.loaders[0].label_runs, seen.loaders[0].label_counts = 0.83, {str(label): 60 for label in range(40)}
    chosen = [draw.sample(range(40), 4) for _ in range(60)]
    seen.steps = steps([0.5] * 60, [[label for label in labels for _ in range(6)] for labels in chosen])
    assert "drawn anew" in judge("D107", seen)
    in_order = [range(at % 40, at % 40 + 4) for at in range(0, 240, 4)]  # six times through all rows, sorted
    seen.steps = steps([0.5] * 60, [[label for label in labels for _ in range(6)] for labels in in_order])
    assert judge("D107", seen) == "found"


def test_sorted_batches_that_are_shuffled_as_wholes() -> None:
    seen = unshuffled()
    order = [2, 0, 1, 1, 0, 2, 1, 0, 0, 2, 2, 1, 0, 2, 0, 1, 2, 2, 0, 1]
    seen.steps = steps([0.5] * 60, [[label] * 8 for label in order * 3])
    seen.steps = seen.steps[:20]
    assert judge("D107", seen) == "found"


def test_a_sorted_stream() -> None:
    seen = unshuffled()
    loader = seen.loaders[0]
    loader.shuffled, loader.dataset_kind = None, "IterableDataset"
    seen.sites["stream"] = SITE
    found = finding("D107", seen)
    assert found.site == SITE
    assert "buffer_size" in found.remedy


@pytest.mark.parametrize("change", ["shuffled", "unknown", "chance", "one batch", "mixed batches", "imbalanced", "regression"])
def test_order_that_is_no_fault(change: str) -> None:
    seen = unshuffled()
    loader = seen.loaders[0]
    if change == "shuffled":
        loader.shuffled = True
    elif change == "unknown":  # a sampler of its own, which makes batches of one class
        loader.shuffled, loader.label_runs = None, 0.83
    elif change == "chance":
        loader.label_runs = 0.36
    elif change == "one batch":
        loader.batches = 1
    elif change == "mixed batches":  # a sampler that takes some rows of each class together
        loader.label_runs, seen.steps = 0.75, steps([0.5] * 60, [[0] * 4 + [1] * 4] * 60)
    elif change == "imbalanced":
        loader.label_counts, loader.label_runs = {"0": 585, "1": 15}, 0.951
    else:
        loader.label_counts, loader.label_runs = {}, None
    assert judge("D107", seen) != "found"


def test_an_evaluation_of_classes_that_training_never_sees() -> None:
    seen = healthy()
    seen.task, seen.classes = "classification", 3
    for loader in seen.loaders:
        loader.label_counts, loader.shuffled = ({"0": 300, "1": 300}, True) if loader.role == "train" else ({}, False)
    seen.evaluation.metrics = [MetricFacts(name="evaluate", predicted_counts={"0": 100}, reference_counts={"1": 40, "2": 60})]
    assert "60% of the rows of the evaluation" in finding("D107", seen).message
    kept, seen.loss_calls = seen.loss_calls, [LossCall(name="bce", target=TensorFacts(shape=(2000,), dtype="float32"))]
    for loader in seen.loaders:
        loader.rows = None
    assert judge("D107", seen) != "found"  # of a batch of so many rows the labels of the first are known
    seen.loss_calls = kept
    seen.classes = 2  # no output for it: another task's classes, as in metric learning
    assert judge("D107", seen) != "found"
    seen.classes = 3
    seen.evaluation.metrics[0].reference_counts = {"0": 45, "1": 45, "2": 10}
    assert judge("D107", seen) != "found"
