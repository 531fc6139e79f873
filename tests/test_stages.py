"""The stage an exception came out of, read off made-up and real tracebacks."""

from __future__ import annotations

import pytest

from harness.frameworks.stages import Frame, frames_of, stage_of

PACKAGES = "/venv/lib/python3.11/site-packages"


def frames(*pairs: tuple[str, str]) -> list[Frame]:
    return [Frame("/home/me/train.py", 10, "<module>"), *(Frame(PACKAGES + path, 1, function) for path, function in pairs)]


@pytest.mark.parametrize(("inner", "stage"), [
    ([("/transformers/trainer.py", "train"), ("/transformers/data/data_collator.py", "torch_default_data_collator")], "batch"),
    ([("/transformers/trainer.py", "compute_loss"), ("/torch/nn/modules/module.py", "_call_impl"), ("/x/model.py", "forward")], "forward"),
    ([("/torch/nn/modules/module.py", "_call_impl"), ("/torch/nn/functional.py", "cross_entropy")], "loss"),
    ([("/transformers/trainer.py", "compute_loss")], "loss"),
    ([("/torch/_tensor.py", "backward"), ("/torch/autograd/graph.py", "_engine_run_backward")], "backward"),
    ([("/torch/optim/adam.py", "step")], "step"),
    ([("/transformers/trainer.py", "evaluate"), ("/evaluate/module.py", "add_batch")], "evaluation"),
    ([("/tf_keras/src/optimizers/optimizer.py", "apply_gradients"),
      ("/tf_keras/src/optimizers/utils.py", "filter_empty_gradients")], "backward"),
    ([("/datasets/arrow_dataset.py", "map")], "data"),
    ([("/tf_keras/src/engine/training.py", "train_function"), ("/tf_keras/src/engine/training.py", "run_step")], "forward"),
    ([("/tf_keras/src/engine/training.py", "test_function"), ("/tf_keras/src/engine/training.py", "run_step")], "evaluation"),
    ([], "setup"),
])
def test_the_innermost_frame_that_says_something_decides(inner: list[tuple[str, str]], stage: str) -> None:
    assert stage_of(ValueError("x"), frames(*inner)) == stage


def test_frames_quoted_by_a_graph_count_as_innermost() -> None:
    message = f'in user code:\n\n    File "{PACKAGES}/tf_keras/src/optimizers/utils.py", line 9, in filter_empty_gradients\n        raise'
    error = ValueError(message)
    found = frames_of(error, None)
    assert found[-1].function == "filter_empty_gradients"
    assert stage_of(error, found) == "backward"


def test_an_error_inside_a_layer_of_keras_says_so_itself() -> None:
    error = ValueError("Exception encountered when calling layer 'lin1' (type Dense).\n\nOOM when allocating tensor with shape[8,4]")
    assert stage_of(error, frames()) == "forward"
    assert stage_of(error, frames(("/tf_keras/src/losses.py", "call"))) == "loss"


@pytest.mark.parametrize(("inner", "stage"), [("training_step", "loss"), ("_prepare_inputs", "batch")])
def test_what_a_subclassed_trainer_computes_by_itself_is_its_loss(inner: str, stage: str) -> None:
    found = frames(("/transformers/trainer.py", "training_step"), *([("/transformers/trainer.py", inner)] if stage == "batch" else []))
    assert stage_of(RuntimeError("x"), [*found, Frame("/home/me/train.py", 12, "compute_loss")]) == stage
