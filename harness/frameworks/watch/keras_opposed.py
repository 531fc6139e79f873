"""Weights for which a step of Keras' asks gradients of two losses, one that trains them and one that has them among others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from harness.checks.training_facts import OpposedFacts
from harness.frameworks.watch import keras_divergence
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_trace import Recording

_MOST = 24


def cosine(sources: list[list[Any]], gradients: list[list[Any]], here: Callable[[Any], bool]) -> Any:
    """float32[]: between both gradients of the weights of the smaller group, where all of them are in the larger one; -2 where there is no
    such pair, or a gradient did not arrive. `here`: whether a tensor may leave the function that is being traced."""
    import tensorflow as tf

    groups = [dict(zip(map(id, group), found, strict=True)) for group, found in zip(sources, gradients, strict=False)
              if len(group) == len(found)]
    for one in groups:
        for other in groups:
            if one and len(one) < len(other) and one.keys() <= other.keys():
                pairs = [(one[key], other[key]) for key in one]
                if all(isinstance(part, tf.Tensor) and here(part) for pair in pairs for part in pair):
                    first, second = (tf.concat([tf.reshape(tf.cast(part, tf.float32), [-1]) for part in side], 0)
                                     for side in zip(*pairs, strict=True))
                    return tf.reduce_sum(first * second) / (tf.norm(first) * tf.norm(second) + 1e-20)
    return tf.constant(-2.0)


def told(record: Recording, own: Callable[[str], bool]) -> OpposedFacts | None:
    """How many weights are in both groups of `cosine`, and where the gradients of the larger one are taken."""
    groups = [set(map(id, group)) for group in record.sources]
    for one in groups:
        for other, gradients in zip(groups, record.gradients, strict=False):
            if one and one < other:
                made = next((gradient for gradient in gradients if hasattr(gradient, "op")), None)
                return OpposedFacts(weights=len(one), held=len(other), cosines=[], site=site(keras_divergence.place(made, own)))
    return None


def took(facts: OpposedFacts | None, value: Any) -> None:
    """A step is over, with this for a cosine. Of the last ones: a critic that tells nothing apart yet has little to be turned."""
    if facts is not None and float(value) >= -1.01:
        facts.cosines[:] = [*facts.cosines, float(value)][-_MOST:]
