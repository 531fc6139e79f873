"""Variational autoencoders of Keras whose step is a graph: how much one latent number weighs in the loss, beside a reconstructed one."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.loss_facts import DivergenceFacts
from harness.frameworks.watch.sites import Place

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_SAME, _LEAST = 1e-3, 4
_EACH, _EVERY = 3, 10
_MODELS, _OPERATIONS = 4, 2000

Array = np.ndarray[Any, Any]


def note(watch: KerasWatcher, tape: Any, target: Any, forwards: list[Any]) -> None:
    """A tape is asked for the gradient of a loss. `forwards`: model, arguments and answer of those that ran under it."""
    from harness.frameworks.watch.keras_trace import numpy_of

    if not tape._persistent or not 0 < len(forwards) <= _MODELS:
        return
    with watch.session.paused():
        read_off = of_tape(tape, target, [found for *_, found in forwards], forwards[0][1])
    read = {name: np.asarray(numpy_of(value)) for name, value in read_off.items()}
    number = len(watch.seen.steps) + 1
    found = measure(read, number) if read else None
    if found is not None:
        watch.seen.divergence.append(found)


def is_due(number: int) -> bool:
    """Whether the step with this number, from 1, is one of those that are measured."""
    return number <= _EACH or number % _EVERY == 0


def parts(target: Any, outputs: list[Any], data: Any) -> dict[str, Any]:
    """Tensors to be read after a step, from inside its graph: a mean and its logarithmic variance that one model gave, what the loss owes
    to them beside what is made of their draws, and a reconstruction of the data. Empty where there are none.

    `target`: the loss; `outputs`: of each model that was called; `data`: of the step.
    """
    import tensorflow as tf

    if tf.executing_eagerly() or not tf.is_tensor(target):
        return {}
    given = [tensor for tensor in tf.nest.flatten(data) if tf.is_tensor(tensor) and tensor.dtype.is_floating and tensor.shape.rank]
    flat = tf.nest.flatten(outputs)
    layers = [(pair, [tensor for tensor in flat if not any(tensor is one for one in pair)]) for pair in _layers(target)]
    coded = [*layers, *(found for output in outputs if (found := _coded(output, outputs))[0])]
    for pair, made in coded:
        for tensor in reversed(made):
            whole = next((one for one in given if tf.is_tensor(tensor) and one.shape.as_list() == tensor.shape.as_list()), None)
            if whole is None:
                continue
            # Keras' cross entropy goes back to what the sigmoid was given.
            before = [one.op.inputs[0] for one in made if tf.is_tensor(one) and one.op.type == "Sigmoid"]
            pulls = tf.gradients(target, pair, stop_gradients=[*made, *before])
            made_of, back = tensor, tf.gradients(target, [tensor])[0]
            if back is None and tensor.op.type == "Sigmoid":
                made_of = tensor.op.inputs[0]
                back = tf.gradients(target, [made_of])[0]
            if back is not None and all(pull is not None for pull in pulls):
                return _read(pair, pulls, made_of, back, whole)
    return {}


def of_tape(tape: Any, target: Any, outputs: list[Any], data: Any) -> dict[str, Any]:
    """As `parts`, of a step outside of a graph. `tape`: a persistent one, that knows the step."""
    import tensorflow as tf

    given = [tensor for tensor in tf.nest.flatten(data) if tf.is_tensor(tensor) and tensor.dtype.is_floating and tensor.shape.rank]
    for output in outputs:
        pair, made = _coded(output, outputs)
        whole = next(((tensor, one) for tensor in reversed(made) for one in given if tensor.shape == one.shape), None) if pair else None
        if whole is None:
            continue
        back = tape.gradient(target, whole[0])
        pulls = tape.gradient(target, pair)
        through = tape.gradient(whole[0], pair, output_gradients=back) if back is not None else [None]
        if all(part is not None for part in (*pulls, *through)):
            return _read(pair, [pull - part for pull, part in zip(pulls, through, strict=True)], whole[0], back, whole[1])
    return {}


def _coded(output: Any, outputs: list[Any]) -> tuple[list[Any], list[Any]]:
    """The means and logarithmic variances among what a model gave, in two tensors or one that is to be split in the middle (or nothing);
    and everything else that models gave."""
    import tensorflow as tf

    coded = [tensor for tensor in tf.nest.flatten(output) if tf.is_tensor(tensor) and tensor.shape.rank == 2]
    pair = next(([first, second] for first, second in itertools.pairwise(coded) if first.shape[1] == second.shape[1]), [])
    if not pair and len(coded) == 1 and len(outputs) > 1 and not (coded[0].shape[1] or 1) % 2:
        pair = coded
    rest = [tensor for tensor in tf.nest.flatten(output) if not any(tensor is one for one in pair)]
    return pair, [*rest, *(tensor for other in outputs if other is not output for tensor in tf.nest.flatten(other))]


def _layers(target: Any) -> list[list[Any]]:
    """Pairs of layers' answers in the graph of a loss, of one width, the second of which goes through `exp`: a mean and its logarithmic
    variance that are made by layers of their own."""
    queue, seen, found = [target.op], {target.op.name}, []
    while queue and len(seen) < _OPERATIONS:
        op = queue.pop(0)
        if op.type in ("BiasAdd", "AddV2") and op.outputs[0].shape.rank == 2 and any(one.op.type == "MatMul" for one in op.inputs):
            found.append(op.outputs[0])
        for one in op.inputs:
            if one.op.name not in seen:
                seen.add(one.op.name)
                queue.append(one.op)
    spreads = [one for one in found if any(_raised(user) for user in one.consumers())]
    return [[mean, spread] for spread in spreads for mean in found
            if mean is not spread and not any(mean is one for one in spreads) and mean.shape[1] == spread.shape[1]][:_MODELS]


def _raised(op: Any) -> bool:
    """Whether this is `exp`, or a product that goes into it."""
    return op.type == "Exp" or (op.type == "Mul" and any(user.type == "Exp" for user in op.outputs[0].consumers()))


def _read(pair: list[Any], pulls: list[Any], made: Any, back: Any, data: Any) -> dict[str, Any]:
    import tensorflow as tf

    (mean, spread), (pull, pull_spread) = (two if len(two) == 2 else tf.split(two[0], 2, axis=1) for two in (pair, pulls))
    return {"mean": mean, "spread": spread, "pull": pull, "pull_spread": pull_spread, "made": made, "back": back, "data": data}


def measure(read: dict[str, Array], step: int) -> DivergenceFacts | None:
    """Facts of one step; None where the loss holds no divergence of a normal distribution from the standard one, or no usual
    reconstruction."""
    whole: dict[str, Array] = {name: array.astype(np.float64) for name, array in read.items()}
    mean, spread, made, data = whole["mean"], whole["spread"], whole["made"], whole["data"]
    weight = _constant(whole["pull"], mean)
    other = _constant(whole["pull_spread"], 0.5 * (np.exp(spread) - 1))
    if weight is None or other is None or abs(weight - other) > 0.01 * weight:
        return None
    found = next(((size, each) for each, slope in _KINDS if (size := _constant(whole["back"], slope(made, data))) is not None), None)
    if found is None:
        return None
    size, each = found
    divergence = 0.5 * (mean ** 2 + np.exp(spread) - 1 - spread).sum()
    middle = np.broadcast_to(data.mean(0), data.shape)
    if each is _entropy_of_logits:
        middle = np.log(np.clip(middle, 1e-6, 1 - 1e-6) / (1 - np.clip(middle, 1e-6, 1 - 1e-6)))
    return DivergenceFacts(step=step, weight=weight / size, value=float(weight * divergence), rows=len(data), numbers=int(data[0].size),
                           reconstruction=float(size * each(made, data).sum()), constant=float(size * each(middle, data).sum()))


def place(target: Any, own: Callable[[str], bool]) -> Place | None:
    """Where a script adds its loss up, as the graph has kept it."""
    frames = [frame for frame in getattr(getattr(target, "op", None), "traceback", ()) if own(frame.filename)]
    return (frames[-1].filename, frames[-1].lineno, frames[-1].name) if frames else None


def _constant(pull: Array, of: Array) -> float | None:
    """The factor between two arrays, where it is one and the same, and positive; None where it is not."""
    pull, of = pull.ravel(), of.ravel()
    far = np.abs(of) > 1e-3 * np.abs(of).max(initial=0.0)
    if far.sum() < _LEAST:
        return None
    ratios = pull[far] / of[far]
    middle = float(np.median(ratios))
    return middle if np.isfinite(ratios).all() and middle > 0 and np.abs(ratios - middle).max() <= 20 * _SAME * middle else None


def _squares(made: Array, data: Array) -> Array:
    squares: Array = (made - data) ** 2
    return squares


def _entropy(made: Array, data: Array) -> Array:
    inside = np.clip(made, 1e-6, 1 - 1e-6)
    entropy: Array = -(data * np.log(inside) + (1 - data) * np.log(1 - inside))
    return entropy


def _entropy_of_logits(made: Array, data: Array) -> Array:
    entropy: Array = np.maximum(made, 0) - made * data + np.log1p(np.exp(-np.abs(made)))
    return entropy


# A loss of one number, and its slope.
_KINDS: tuple[tuple[Callable[[Array, Array], Array], Callable[[Array, Array], Array]], ...] = (
    (_squares, lambda made, data: 2 * (made - data)),
    (_entropy, lambda made, data: (made - data) / np.maximum(made * (1 - made), 1e-6)),
    (_entropy_of_logits, lambda made, data: 1 / (1 + np.exp(-made)) - data),
)
