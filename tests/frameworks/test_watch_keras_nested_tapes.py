"""Tapes within tapes: derivatives by inputs are no steps, and those by weights are, though the script steps by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import found, watch

pytest.importorskip("tensorflow")

SCRIPT = """
import tensorflow as tf
import keras
tf.random.set_seed(0)
weights = [tf.Variable(tf.random.normal((1, 16)) * 0.5), tf.Variable(tf.zeros((16,))), tf.Variable(tf.random.normal((16, 1)) * 0.2)]
def answer(x):
    return tf.tanh(x @ weights[0] + weights[1]) @ weights[2]
def residual(x):
    with tf.GradientTape() as second:
        second.watch(x)
        with tf.GradientTape() as first:
            first.watch(x)
            u = answer(x)
        slope = first.gradient(u, x)
    return second.gradient(slope, x) + tf.sin(x)
@tf.function
def step():
    x = tf.random.uniform((32, 1), -2.0, 2.0)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(residual(x) ** 2)
    for weight, gradient in zip(weights, tape.gradient(loss, weights)):
        weight.assign_sub(0.02 * gradient)
    return loss
for number in range(400):
    step()
"""


def test_a_differential_equation(tmp_path: Path) -> None:
    seen = watch(tmp_path, SCRIPT)
    assert not [text for text in seen.warnings if "watching failed" in text]
    assert len(seen.steps) >= 24
    assert all(step.backwards == 1 for step in seen.steps)
    losses = [step.loss for step in seen.steps]
    assert all(0 < loss < 2 for loss in losses if loss is not None)  # and no sum of answers
    assert found(seen) == []


def test_it_ends_when_its_time_is_over(tmp_path: Path) -> None:
    seen = watch(tmp_path, SCRIPT.replace("range(400)", "range(100_000)"), seconds=3.0, steps=10_000, patient_steps=10_000)
    assert seen.steps
    assert seen.stopped == "time"
