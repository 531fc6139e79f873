"""Over all checks together: one exception, one cause; echoes keep quiet; and what PyTorch raises today is still recognised."""

from __future__ import annotations

import math
from typing import Any

import pytest

from harness.checks.base import all_checks, walk
from harness.checks.model_facts import BadBirth
from harness.checks.observation import Observation
from harness.checks.probe_facts import ProbeFacts
from harness.checks.training_facts import ExceptionFacts
from harness.frameworks import stages
from tests.checks.facts import (
    ADAM,
    FAILS_LEARNS_SMALLER,
    HERE,
    LEARNS,
    RAISED,
    batch,
    call,
    curve,
    died,
    ids,
    model,
    probes,
    seen,
    steps,
    tensor,
)

_OURS = tuple("LGSER")
_CAUSES = {
    "L201": ("ce_out", "ce_minus1", "nll_out", "ce_out_smooth", "onehot", "onehot_neg", "multimargin", "ce_1unit", "tf_keras_out",
             "tf_keras_out_prob", "tf_keras_out_eager", "keras_out", "keras_out_prob", "keras_out_eager", "lazy"),
    "L202": ("ce_float", "ce_int32", "ce_bool", "ce_onehot_long", "ce_str", "ce_1d", "bce_long", "bcep_long", "bcep_double",
             "tf_keras_str_labels", "keras_str_labels"),
    "L203": ("ce_float2", "ce_n1", "bcep_shape", "bce_shape", "mse_shape", "ce_batch", "ce_lm", "tf_keras_cat_int",
             "tf_keras_sparse_onehot", "tf_keras_bin_3", "keras_cat_int", "keras_sparse_onehot", "keras_bin_3", "keras_mse"),
    "L206": ("bcep_range",),
    "G301": ("tf_keras_none",),
    "G302": ("nograd", "detach", "argmax", "item", "item2", "intloss", "allfrozen", "tf_keras_nograd", "tf_keras_stopgrad", "keras_nograd",
             "keras_stopgrad"),
    "G303": ("frozen_opt",),
    "G308": ("second", "rnn_hidden", "total_loss"),
    # Without a step before it, weights that the optimizer has changed look like any other tensor.
    "G309": ("inplace", "leaf_inplace", "rnn_hidden_retain", "total_loss_retain"),
    "E501": ("sk_logits", "sk_binary_cont", "sk_f1_logits", "sk_onehot", "sk_swapped", "ev_logits", "ev_logits_batch", "ev_list",
             "ev_tuple",
             "sk_lengths", "tf_keras_metric", "keras_metric"),
    "R601": ("oom", "np_oom", "oom_limit", "tf_oom"),
    "L209": ("sk_nan",),
}
_EXPECTED = {name: code for code, names in _CAUSES.items() for name in names}


def _found(observation: Observation) -> list[str]:
    ours = [cls for cls in all_checks() if cls.code.startswith(_OURS)]
    return [result.code for result in walk(observation, ours) if result.state == "found"]


@pytest.mark.parametrize("name", [name for group in RAISED.values() for name in group])
def test_one_exception_one_cause(name: str) -> None:
    expected = _EXPECTED.get(name)
    assert _found(died(name)) == ([expected] if expected else [])


def _real(cause: str) -> BaseException:
    """Make PyTorch raise."""
    import torch
    from torch.nn import functional

    logits = torch.randn(8, 2, requires_grad=True)
    labels = torch.tensor([0, 1] * 4)
    try:
        if cause == "L201":
            functional.cross_entropy(logits, labels + 1)
        elif cause == "L202":
            functional.cross_entropy(logits, labels.float())
        elif cause == "L203":
            functional.cross_entropy(logits, labels[:4])
        elif cause == "L206":
            functional.binary_cross_entropy(logits[:, 0] * 9, labels.float())
        elif cause == "G302":
            functional.cross_entropy(logits.detach(), labels).backward()
        elif cause == "G303":
            torch.optim.SGD([], lr=0.1)
        elif cause == "G308":
            loss = functional.cross_entropy(logits, labels)
            loss.backward()
            loss.backward()
        elif cause == "R601":
            torch.empty(1 << 44)
    except (RuntimeError, IndexError, ValueError) as error:
        return error
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize("cause", ["L201", "L202", "L203", "L206", "G302", "G303", "G308", "R601"])
def test_what_pytorch_raises_today(cause: str) -> None:
    pytest.importorskip("torch")
    error = _real(cause)
    frames = stages.frames_of(error, error.__traceback__)
    facts = ExceptionFacts(type=type(error).__name__, bases=[base.__name__ for base in type(error).__mro__[1:]], message=str(error),
                           site=HERE, stage=stages.stage_of(error, frames),
                           frames=[(frame.path, frame.line, frame.function) for frame in frames])
    assert _found(died(facts)) == [cause]


def test_what_scikit_learn_raises_today() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    with pytest.raises(ValueError) as raised:
        metrics.accuracy_score([0, 1, 2], [[0.1, 0.2, 0.7]] * 3)
    frames = stages.frames_of(raised.value, raised.value.__traceback__)
    facts = ExceptionFacts(type="ValueError", message=str(raised.value), frames=[(f.path, f.line, f.function) for f in frames], site=HERE)
    assert _found(died(facts)) == ["E501"]


def _healthy(**facts: Any) -> Observation:
    return seen(**{"model": model(num_labels=3, stochastic=True), "optimizer": ADAM, "steps": steps(40), "loss_calls": [call()] * 3,
                   "probes": LEARNS, "batches": [batch(x=tensor(8, 4), y=ids(8))], **facts})


def test_silence_on_healthy_scripts() -> None:
    assert _found(_healthy()) == []
    assert _found(_healthy(probes=ProbeFacts())) == []
    assert _found(_healthy(models_stepped=2, probes=FAILS_LEARNS_SMALLER)) == []
    assert _found(_healthy(framework="keras")) == []
    assert _found(Observation()) == []


def test_first_cause_not_its_echoes() -> None:
    bad = [*steps(2), *steps(9, loss=math.nan)[2:]]
    birth = BadBirth(step=3, what="loss", name="loss", rows=[1], row_labels=[2], finite_row_labels=[0, 1])
    labels = call("sparse_categorical", inputs=tensor(8, 2), from_logits=True, row_losses=[0.7, math.nan, 0.7], row_labels=[0, 2, 1])
    assert _found(_healthy(framework="tf_keras", model=model(num_labels=2), loss_calls=[labels], steps=bad, births=[birth])) == ["L201"]
    assert _found(_healthy(steps=bad, births=[birth], probes=FAILS_LEARNS_SMALLER, loss_calls=[call()])) == ["S401"]
    summed = call(reduction="sum", value=30.0)
    assert _found(_healthy(loss_calls=[summed], steps=steps(40, loss=30.0), probes=FAILS_LEARNS_SMALLER)) == ["L208"]
    squeezed = call(inputs=tensor(8, 3, minimum=0.1, maximum=0.8, rows_sum_to_one=True))
    assert _found(_healthy(loss_calls=[squeezed], probes=FAILS_LEARNS_SMALLER)) == ["L205"]
    broadcast = call("mse", inputs=tensor(8, 1), target=tensor(8))
    assert _found(_healthy(loss_calls=[broadcast], probes=FAILS_LEARNS_SMALLER)) == ["L203"]


def test_labels_in_the_dict_hide_the_string_loss() -> None:
    bert = model(accepts=["input_ids", "labels"], num_labels=3, pretrained=True)
    by_name = call("sparse_categorical", from_logits=False, by_name=True)
    stuck = probes(curve(5e-5, 4.0, 4.0), curve(5e-6, 4.0, 4.0))
    facts: dict[str, Any] = {"framework": "tf_keras", "model": bert, "loss_calls": [by_name], "probes": stuck}
    assert _found(_healthy(batches=[batch(input_ids=ids(8, 9), labels=ids(8))], **facts)) == ["G301"]
    assert _found(_healthy(batches=[batch(input_ids=ids(8, 9), y=ids(8))], **facts)) == ["L206"]


def test_every_requirement_is_a_check_or_another_room_s() -> None:
    codes = {cls.code for cls in all_checks()}
    unknown = {code for cls in all_checks() if cls.code.startswith(_OURS) for code in cls.requires} - codes
    assert all(code.startswith("D") for code in unknown), unknown
