"""Variational autoencoders of Keras whose step is a graph: how much one latent number weighs in the loss, beside a reconstructed one."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from harness.checks.loss_facts import DivergenceFacts
from harness.frameworks.watch.sites import Place

_SAME, _LEAST = 1e-3, 4

Array = np.ndarray[Any, Any]


def parts(target: Any, outputs: list[Any], data: Any) -> dict[str, Any]:
    """Tensors to be read after a step, from inside its graph: a mean and its logarithmic variance that one model gave, what the loss owes
    to them beside what is made of their draws, and a reconstruction of the data. Empty where there are none.

    `target`: the loss; `outputs`: of each model that was called; `data`: of the step.
    """
    import tensorflow as tf

    if tf.executing_eagerly() or not tf.is_tensor(target):
        return {}
    given = [tensor for tensor in tf.nest.flatten(data) if tf.is_tensor(tensor) and tensor.dtype.is_floating and tensor.shape.rank]
    for output in outputs:
        coded = [tensor for tensor in tf.nest.flatten(output) if tf.is_tensor(tensor) and tensor.shape.rank == 2]
        pair = next(((first, second) for first, second in itertools.pairwise(coded) if first.shape[1] == second.shape[1]), None)
        if pair is None:
            continue
        mean, spread = pair
        rest = [tensor for tensor in tf.nest.flatten(output) if tensor is not mean and tensor is not spread]
        made = [*rest, *(tensor for other in outputs if other is not output for tensor in tf.nest.flatten(other))]
        for tensor in reversed(made):
            whole = next((one for one in given if tf.is_tensor(tensor) and one.shape.as_list() == tensor.shape.as_list()), None)
            if whole is None:
                continue
            # Keras' cross entropy goes back to what the sigmoid was given.
            before = [one.op.inputs[0] for one in made if tf.is_tensor(one) and one.op.type == "Sigmoid"]
            pulls = tf.gradients(target, [mean, spread], stop_gradients=[*made, *before])
            made_of, back = tensor, tf.gradients(target, [tensor])[0]
            if back is None and tensor.op.type == "Sigmoid":
                made_of = tensor.op.inputs[0]
                back = tf.gradients(target, [made_of])[0]
            if back is not None and all(pull is not None for pull in pulls):
                return {"mean": mean, "spread": spread, "pull": pulls[0], "pull_spread": pulls[1],
                        "made": made_of, "back": back, "data": whole}
    return {}


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
