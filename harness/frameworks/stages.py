"""Which stage of the pipeline an exception came out of, read off its traceback, innermost frame first."""

from __future__ import annotations

import re
import traceback
from dataclasses import dataclass
from types import TracebackType

from harness.catalog.schema import Stage

# (path pattern, function pattern, stage): the first row that an inner frame matches decides. Frames of the script itself and of
# libraries that say nothing about the pipeline match no row and are passed over.
_FRAMES: tuple[tuple[str, str, Stage], ...] = (
    (r"/torch/nn/functional\.py$", r"cross_entropy|nll_loss|mse_loss|l1_loss|kl_div|binary_cross.*|.*_loss", "loss"),
    (r"/torch/nn/modules/loss\.py$", r".*", "loss"),
    (r"/transformers/loss/", r".*", "loss"),
    (r"/(tf_)?keras/(src/)?losses", r".*", "loss"),
    (r"/keras/(src/)?.*compile_utils\.py$|/compile_utils\.py$", r".*", "loss"),
    (r"/transformers/modeling_tf_utils\.py$", r"hf_compute_loss", "loss"),
    (r"/transformers/data/data_collator\.py$", r".*", "batch"),
    (r"/torch/utils/data/", r".*", "batch"),
    (r"/datasets/utils/tf_utils\.py$", r".*", "batch"),
    (r"/datasets/arrow_dataset\.py$", r"to_tf_dataset|_get_output_signature", "batch"),
    (r"/transformers/trainer\.py$|/keras_callbacks\.py$|/evaluate/",
     r"evaluate|evaluation_loop|prediction_(step|loop)|compute|add|add_batch|on_epoch_end", "evaluation"),
    (r"/torch/_tensor\.py$", r"backward", "backward"),
    (r"/torch/autograd/", r"backward|_engine_run_backward|grad", "backward"),
    (r"/tensorflow/python/eager/backprop\.py$", r"gradient", "backward"),
    (r"keras.*/optimizers?/", r"apply_gradients|minimize|compute_gradients|filter_empty_gradients|_?filter.*|apply", "backward"),
    (r"/torch/optim/", r".*", "step"),
    (r"/torch/nn/utils/clip_grad\.py$", r".*", "step"),
    (r"/torch/_lazy/", r"mark_step", "step"),
    (r"/transformers/trainer\.py$", r"_prepare_inputs?", "batch"),
    # The innermost where a subclass has a compute_loss of its own, and the model has answered.
    (r"/transformers/trainer\.py$", r"compute_loss|training_step", "loss"),
    (r"/torch/nn/modules/module\.py$", r"_call_impl|_wrapped_call_impl", "forward"),
    (r"/(tf_)?keras/(src/)?engine/base_layer\.py$|/(tf_)?keras/(src/)?layers/layer\.py$", r"__call__", "forward"),
    (r"/(tf_)?keras/.*/train(ing|er)\.py$", r"test_function|test_step", "evaluation"),
    (r"/(tf_)?keras/.*/train(ing|er)\.py$", r"train_function|train_step", "forward"),
    (r"/datasets/", r".*", "data"),
    (r"/transformers/tokenization", r".*", "data"),
    (r"/tokenizers/", r".*", "data"),
)
_COMPILED = tuple((re.compile(path), re.compile(rf"(?:{function})\Z"), stage) for path, function, stage in _FRAMES)
# A graph is built first and run later, so a kernel's error carries the operation's name instead of Python frames.
_OPERATIONS: tuple[tuple[str, Stage], ...] = (
    (r"gradient_tape|/gradients?/", "backward"),
    (r"SparseSoftmaxCrossEntropy|sparse_categorical_crossentropy|softmax_cross_entropy", "loss"),
    (r"IteratorGetNext|PyFunc", "batch"),
    (r"Adam|ResourceApply|SGD", "step"),
)
_IN_MESSAGE = re.compile(r'File "(?P<path>[^"]+)", line (?P<line>\d+), in (?P<function>\S+)')


@dataclass(frozen=True)
class Frame:
    """A frame of a traceback: file, 1-based line, function."""

    path: str
    line: int
    function: str


def frames_of(error: BaseException, trace: TracebackType | None) -> list[Frame]:
    """All frames, outermost first; those that a graph's message quotes come last (Keras strips the real ones)."""
    frames = [Frame(item.filename, item.lineno or 0, item.name) for item in traceback.extract_tb(trace)]
    message = str(error)
    if "in user code:" in message or "defined at (most recent call last)" in message:
        frames += [Frame(m["path"], int(m["line"]), m["function"]) for m in _IN_MESSAGE.finditer(message)]
    return frames


def stage_of(error: BaseException, frames: list[Frame]) -> Stage:
    """The stage of the innermost frame that belongs to one; `setup` where none does."""
    operation = getattr(getattr(error, "op", None), "name", "") or ""
    node = getattr(error, "node_def", None)
    named = f"{operation} {getattr(node, 'name', '')}"
    if named.strip() or "Node:" in str(error):
        text = named + str(error)
        for pattern, stage in _OPERATIONS:
            if re.search(pattern, text):
                return stage
    for frame in reversed(frames):
        path = frame.path.replace("\\", "/")
        for path_pattern, function_pattern, stage in _COMPILED:
            if path_pattern.search(path) and function_pattern.match(frame.function):
                return stage
    # Of an error inside a layer Keras strips the frames, and says so instead.
    return "forward" if "Exception encountered when calling" in str(error) else "setup"
