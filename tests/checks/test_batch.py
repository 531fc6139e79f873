"""B101 to B103, on observations made by hand; what libraries raise is in test_recorded.py."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from harness.checks.data_facts import BatchFacts, FillFacts
from harness.checks.loss_facts import LossCall
from harness.checks.model_facts import UnmaskedFacts
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site, TensorFacts
from harness.frameworks.watch import torch_batches
from tests.checks.made import error, finding, healthy, judge, steps


@pytest.mark.parametrize("code", ["B101", "B102", "B103"])
def test_silent_on_a_healthy_run(code: str) -> None:
    assert judge(code, healthy()) == "clean"
    assert judge(code, Observation()) not in {"found", "clean"}


def test_shapes_inside_a_model_are_no_ragged_batch() -> None:
    message = "stack expects each tensor to be equal size, but got [3] at entry 0 and [4] at entry 1"
    seen = Observation(exception=error("RuntimeError", message, source="x = torch.stack(parts)",
                                       frames=[("/lib/torch/nn/modules/module.py", 1, "_call_impl")]))
    assert judge("B101", seen) == "clean"


def test_ragged_arrays_in_compute_metrics_are_no_ragged_batch() -> None:
    seen = Observation(exception=error("ValueError", "The requested array has an inhomogeneous shape after 2 dimensions.", "evaluation",
                                       frames=[("/home/user/train.py", 3, "compute_metrics")]))
    assert judge("B101", seen) == "clean"


def without_mask() -> Observation:
    seen = healthy()
    for batch in seen.batches:
        batch.has_attention_mask, batch.padding_masked = False, False
        batch.columns.pop("attention_mask")
    return seen


def test_mask_dropped() -> None:
    found = finding("B102", without_mask())
    assert "no attention mask arrives" in found.message
    assert "is left out on the way" in " ".join(found.evidence)


def test_mask_of_ones() -> None:
    seen = healthy()
    for batch in seen.batches:
        batch.padding_masked = False
    assert "does not cover" in finding("B102", seen).message
    seen.sites["collator.mask"] = Site(file="/home/user/train.py", line=12, source='"attention_mask": (ids == pad).long(),')
    assert finding("B102", seen).site == seen.sites["collator.mask"]


@pytest.mark.parametrize("change", ["no padding", "causal", "own model", "takes none", "unknown"])
def test_mask_not_needed_or_unclear(change: str) -> None:
    seen = without_mask()
    assert seen.model is not None
    if change == "no padding":
        for batch in seen.batches:
            batch.has_padding = False
    elif change == "causal":
        seen.model.kind = "GPT2LMHeadModel"
    elif change == "own model":
        seen.model.kind, seen.model.pretrained = "Classifier", None
    elif change == "takes none":
        seen.model.accepts = ["ids"]
    else:
        for batch in seen.batches:
            batch.has_padding = None
    assert judge("B102", seen) != "found"


def test_list_in_a_script_that_is_no_batch() -> None:
    seen = Observation(exception=error("AttributeError", "'list' object has no attribute 'shape'", "evaluation", "print(results.shape)"))
    assert judge("B103", seen) == "clean"
    seen = Observation(exception=error("AttributeError", "'str' object has no attribute 'to'", "setup", "name.upper()"))
    assert judge("B103", seen) == "clean"


@pytest.mark.parametrize(("batches", "wrong"), [(3, True), (2, False)])
def test_a_mask_of_ones_inside_a_model_of_ones_own(batches: int, wrong: bool) -> None:
    seen = healthy()
    seen.unmasked = UnmaskedFacts(kind="BertModel", batches=batches, padded=batches, share=0.4, covered=True)
    assert (judge("B102", seen) == "found") is wrong


def test_padded_prompts_without_their_mask() -> None:
    seen = healthy()
    seen.generated = UnmaskedFacts(kind="GPT2LMHeadModel", batches=2, padded=2, share=0.4)
    assert "`generate`" in finding("B102", seen).message


def test_one_row_that_was_tried_without_its_mask() -> None:
    seen = healthy()
    one = without_mask().batches[0]
    seen.batches = [one, *seen.batches, *seen.batches]
    assert len(seen.batches) > 2
    assert judge("B102", seen) != "found"


@pytest.mark.parametrize(("kept", "count", "wrong"), [
    ([0], 12, True), ([4], 12, True), ([0, 1, 2], 12, False), ([4] * 199 + [3], 12, False), ([0], 2, False), ([4], 2, False)])
def test_nothing_but_one_class_and_what_is_left_out(kept: list[int], count: int, wrong: bool) -> None:
    """One label in two hundred that is another one is enough to learn from."""
    seen = healthy()
    values = np.full((32, 50), -100)
    values[:, :25] = np.resize(kept, (32, 25))
    target = TensorFacts(shape=values.shape, dtype="int64", minimum=-100.0, maximum=float(values.max()), integral=True,
                         mean=float(values.mean()), std=float(values.std()))
    seen.loss_calls = [LossCall(name="cross_entropy", target=target, ignore_index=-100, step=step) for step in range(count)]
    assert (judge("D104", seen) == "found") is wrong


@pytest.mark.parametrize(("told", "loss", "masked", "filled", "state"), [
    (0.8, 1.1, False, 0.9, "found"), (0.4, 1.1, False, 0.9, "not"), (0.8, 0.3, False, 0.9, "not"), (0.8, 1.1, True, 0.9, "not"),
    (0.8, 1.1, False, 0.1, "not")])
def test_filler_that_only_the_configuration_knows(told: float, loss: float, masked: bool, filled: float, state: str) -> None:
    seen = healthy()
    assert seen.model is not None
    seen.model.kind, seen.model.accepts = "BertForSequenceClassification", ["input_ids", "attention_mask", "labels"]
    fill = FillFacts(share=filled, rows=9, lengths=1, half=True)
    seen.batches = [BatchFacts(has_attention_mask=masked, fill=fill) for _ in range(4)]
    seen.steps = steps([1.1] * 20 + [loss] * 40)
    seen.loss_calls = []
    seen.probes.text_baseline, seen.probes.text_baseline_shuffled, seen.probes.text_baseline_rows = told, 0.35, 700
    assert (judge("B102", seen) == "found") is (state == "found")


@pytest.mark.parametrize(("rows", "lengths", "inside", "masked", "wrong"), [
    (9, 5, False, False, True), (2, 5, False, False, False), (9, 2, False, False, False), (9, 5, True, False, False),
    (9, 5, False, True, False)])
def test_an_id_that_can_be_nothing_but_padding(rows: int, lengths: int, *, inside: bool, masked: bool, wrong: bool) -> None:
    """However well the model learns."""
    seen = healthy()
    assert seen.model is not None
    seen.model.kind, seen.model.accepts = "TFBertForSequenceClassification", ["input_ids", "attention_mask", "labels"]
    fill = FillFacts(share=0.1, rows=rows, lengths=lengths, inside=inside)
    seen.batches = [BatchFacts(has_attention_mask=masked, fill=fill) for _ in range(4)]
    assert (judge("B102", seen) == "found") is wrong


@pytest.mark.parametrize(("ids", "found"), [
    ([[5, 6, 0, 0], [7, 0, 0, 0]], (0.625, 2, 2, True, False)), ([[5, 0, 6, 0], [7, 0, 0, 0]], (0.625, 2, 2, False, True)),
    ([[5, 6, 7, 8], [7, 0, 0, 0]], (0.375, 1, 1, False, False))])
def test_what_fills_rows_up(ids: list[list[int]], found: tuple[float, int, int, bool, bool]) -> None:
    seen = BatchFacts()
    torch = pytest.importorskip("torch")
    torch_batches.as_called(seen, {"input_ids": torch.tensor(ids)}, [], SimpleNamespace(pad_token_id=0))
    share, rows, lengths, half, inside = found
    assert seen.fill == FillFacts(share=share, rows=rows, lengths=lengths, half=half, inside=inside)
    assert seen.has_attention_mask is False
