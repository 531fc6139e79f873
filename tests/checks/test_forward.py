"""F101 to F105, on observations made by hand; what libraries raise is in test_recorded.py."""

from __future__ import annotations

import pytest

from harness.checks.data_facts import BatchFacts
from harness.checks.loss_facts import LossCall
from harness.checks.observation import Observation
from harness.checks.probe_facts import ProbeFacts, RowFacts
from harness.checks.tensor_facts import Site, TensorFacts
from tests.checks.made import error, finding, healthy, ids, judge, steps

OUTSIDE = "index out of range in self"


@pytest.mark.parametrize("code", ["F101", "F102", "F103", "F104", "F105"])
def test_silent_on_a_healthy_run(code: str) -> None:
    assert judge(code, healthy()) != "found"
    assert judge(code, Observation()) not in {"found", "clean"}


def test_too_long_or_outside_is_told_by_the_batch() -> None:
    seen = healthy()
    seen.exception = error("IndexError", OUTSIDE)
    for batch in seen.batches:
        batch.longest = 200
    assert "200 tokens" in finding("F101", seen).message
    assert "64 positions" in finding("F101", seen).message
    seen = healthy()
    seen.exception = error("IndexError", OUTSIDE)
    seen.batches[-1].columns["input_ids"] = ids(largest=130)
    assert judge("F101", seen) == "clean"
    found = finding("F102", seen)
    assert "`input_ids` holds 130" in found.message
    assert "resize_token_embeddings" in found.remedy


def test_filler_among_the_inputs() -> None:
    seen = healthy()
    seen.exception = error("IndexError", OUTSIDE)
    seen.batches[-1].columns["input_ids"] = ids(smallest=-100)
    assert "pad_token_id" in finding("F102", seen).remedy


def test_kinds_of_token_outside() -> None:
    seen = healthy()
    seen.exception = error("IndexError", OUTSIDE)
    seen.batches[-1].columns["token_type_ids"] = ids(largest=2)
    assert "`token_type_ids` holds 2" in finding("F102", seen).message


def test_on_a_gpu_the_cpu_has_the_word() -> None:
    seen = healthy()
    seen.exception = error("AcceleratorError", "CUDA error: device-side assert triggered", "backward", "loss.backward()")
    seen.exception.cpu_rerun = {"type": "IndexError", "message": OUTSIDE, "stage": "forward",
                                "site": {"file": "/home/user/train.py", "line": 12, "source": "model(**batch)"}}
    seen.batches[-1].columns["input_ids"] = ids(largest=130)
    found = finding("F102", seen)
    assert found.site is not None
    assert found.site.line == 12


def test_on_a_gpu_the_layer_is_the_one_that_failed_on_the_cpu() -> None:
    seen = healthy()
    assert seen.model is not None
    seen.model.pretrained = False
    seen.sites["layer"] = Site("/home/user/train.py", 5, "self.words = nn.Embedding(100, 8)")
    seen.exception = error("AcceleratorError", "CUDA error: device-side assert triggered", "backward", "loss.backward()")
    seen.exception.cpu_rerun = {"type": "IndexError", "message": OUTSIDE, "stage": "forward", "module": "words: Embedding(100, 8)"}
    seen.batches[-1].columns["input_ids"] = ids(largest=130)
    found = finding("F102", seen)
    assert found.site is not None
    assert found.site.line == 5


def test_shapes_in_the_loss_are_not_the_models() -> None:
    message = "The size of tensor a (32) must match the size of tensor b (16) at non-singleton dimension 0"
    assert judge("F103", Observation(exception=error("RuntimeError", message, "loss"))) == "clean"
    assert judge("F103", Observation(exception=error("RuntimeError", message, "forward"))) == "found"


def blind() -> Observation:
    seen = healthy()
    seen.steps, seen.probes = steps([1.1] * 60), ProbeFacts(input_matters=False)
    return seen


def test_input_that_does_not_matter() -> None:
    assert "whatever its input" in finding("F104", blind()).message


@pytest.mark.parametrize("change", ["matters", "learns", "nan", "two models", "unknown"])
def test_input_that_matters_or_unclear(change: str) -> None:
    seen = blind()
    assert seen.model is not None
    if change == "matters":
        seen.probes.input_matters = True
    elif change == "learns":
        seen.steps = healthy().steps
    elif change == "nan":
        seen.model.output = TensorFacts(shape=(4, 3), dtype="float32", bad_rows=[0, 1])
    elif change == "two models":
        seen.models_stepped = 2
    else:
        seen.probes.input_matters = None
    assert judge("F104", seen) != "found"


def mixed(**fields: object) -> Observation:
    seen = healthy()
    seen.probes.rows = RowFacts(**{"influence": 0.5, "order": 0.4, "module": "gru: GRU", "batch_first": False, **fields})
    for loader in seen.loaders:
        loader.shuffled = True
    return seen


def test_rows_that_are_mixed() -> None:
    assert "batch_first=True" in finding("F105", mixed()).remedy
    assert "permute" in finding("F105", mixed(batch_first=None, module="")).remedy
    assert judge("F105", mixed(order=0.0)) == "found"
    assert "may be meant" in judge("F105", mixed(order=0.0, batch_first=None))
    assert judge("F105", mixed(order=0.01, influence=0.01)) == "clean"
    together = mixed()
    for loader in together.loaders:
        loader.shuffled = False
    assert "may belong together" in judge("F105", together)
    by_hand = mixed()
    by_hand.loaders = []
    assert "may belong together" in judge("F105", by_hand)
    by_hand.steps = steps([1.1] * 60)
    assert judge("F105", by_hand) == "found"


@pytest.mark.parametrize(("tied", "shuffled", "rows", "whole"), [
    (True, True, 400, True), (False, True, 400, False), (True, None, 400, False), (True, True, 4000, False)])
def test_a_whole_graph_whose_rows_are_shuffled(*, tied: bool, shuffled: bool | None, rows: int, whole: bool) -> None:
    seen = mixed(batch_first=None, module="conv: GraphConv", tied=tied)
    for loader in seen.loaders:
        loader.shuffled, loader.rows, loader.batch_size, loader.batches = shuffled, rows, 400, None
    assert ("shuffle=False" in finding("F105", seen).remedy) is whole


@pytest.mark.parametrize(("inputs", "batch_first", "verdict"), [
    ((16, 12), False, "found"), ((12, 16), False, "skipped"), ((16, 16), False, "skipped"), ((16, 12), None, "skipped")])
def test_rows_of_own_batches_that_a_layer_mixes(inputs: tuple[int, int], batch_first: bool | None, verdict: str) -> None:
    """Without a loader, though the script learns: a layer that takes its batch second, and inputs that have it first."""
    seen = mixed(batch_first=batch_first)
    seen.loaders = []
    seen.loss_calls = [LossCall(name="cross_entropy", value=1.1, target=TensorFacts(shape=[16], dtype="int64"))]
    seen.batches = [BatchFacts(columns={"x": TensorFacts(shape=list(inputs), dtype="float32")}, inputs_key="x")]
    judged = judge("F105", seen)
    assert judged == "found" if verdict == "found" else "may belong together" in judged


def test_a_table_as_long_as_the_configuration_says() -> None:
    seen = healthy()
    seen.exception = error("IndexError", OUTSIDE)
    seen.exception.frames = [("/lib/transformers/models/bert/modeling_bert.py", 90, "forward")]
    seen.batches[-1].columns["input_ids"] = ids(largest=130)
    seen.sites["config.vocab_size"] = place = Site(file="/home/user/train.py", line=12, source="vocab_size=tok.vocab_size,")
    assert finding("F102", seen).site == place
    assert "resize_token_embeddings" in finding("F102", seen).remedy
    assert seen.model is not None
    seen.model.pretrained = False
    assert "vocab_size=len(tokenizer)" in finding("F102", seen).remedy


def test_the_last_batch_of_a_pass_is_shorter() -> None:
    seen = healthy()
    seen.loaders[0].batch_size, seen.loaders[0].rows = 16, 90
    seen.exception = error("RuntimeError", "Expected hidden size (1, 10, 8), got [1, 16, 8]")
    found = finding("F103", seen)
    assert "the last of a pass over 90 rows has 10" in " ".join(found.evidence)
    assert "drop_last" in found.remedy
    seen.loaders[0].rows = 96
    assert "drop_last" not in finding("F103", seen).remedy
    seen.loaders[0].rows, seen.steps = 90, []
    assert "drop_last" not in finding("F103", seen).remedy


def test_a_last_batch_of_one_row_is_left_out_by_the_loader() -> None:
    seen = healthy()
    seen.sites["loader"] = Site("/home/user/train.py", 7, "loader = DataLoader(rows, batch_size=32)")
    seen.loaders[0].role, seen.loaders[0].batch_size, seen.loaders[0].rows = "train", 32, 2881
    seen.exception = error("ValueError", "Expected more than 1 value per channel when training, got input size torch.Size([1, 32])")
    found = finding("F103", seen)
    assert found.site is not None
    assert found.site.line == 7
    assert "drop_last=True" in found.remedy
