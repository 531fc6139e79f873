"""Losses of policies: with a minus before what actions were worth, and without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import watch as watch_keras
from tests.frameworks.watching import found, watch

TEXT = """
import torch, torch.nn as nn
from torch.distributions import Categorical
torch.manual_seed(0)
net = nn.Linear(4, 3)
optimizer = torch.optim.Adam(net.parameters(), 1e-2)
best = torch.randint(0, 3, (16,))
for number in range(12):
    states = torch.randn(32, 4)
    policy = Categorical(logits=net(states))
    actions = policy.sample()
    NAME = torch.randn(32) + (actions == states[:, :3].argmax(1)).float()
    NAME = NAME - NAME.mean()
    log_probs = policy.log_prob(actions)
    loss = LOSS
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
RATIO = "torch.exp(log_probs - log_probs.detach())"


@pytest.mark.parametrize(("loss", "name", "wrong"), [
    ("(log_probs * advantages).mean()", "advantages", True),
    ("-(log_probs * advantages).mean()", "advantages", False),
    ("(-log_probs * advantages).sum()", "advantages", False),
    ("(log_probs * -advantages).mean()", "advantages", False),
    ("(log_probs * costs).mean()", "costs", False),  # what is to become small is made small
    (f"-torch.min({RATIO} * advantages, {RATIO}.clamp(0.8, 1.2) * advantages).mean()", "advantages", False),
    (f"torch.min({RATIO} * advantages, {RATIO}.clamp(0.8, 1.2) * advantages).mean()", "advantages", True),
])
def test_the_sign(tmp_path: Path, loss: str, name: str, *, wrong: bool) -> None:
    seen = watch(tmp_path, TEXT.replace("LOSS", loss).replace("NAME", name))
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert ("L216" in found(seen)) is wrong
    if wrong:
        told = next(result.finding for result in walk(seen) if result.code == "L216")
        assert told is not None
        assert told.site is not None
        assert told.site.source.startswith("loss = ")


CRITIC = TEXT.replace("net = nn.Linear(4, 3)", "net, critic = nn.Linear(4, 3), nn.Linear(4, 1)").replace(
    "Adam(net.parameters()", "Adam([*net.parameters(), *critic.parameters()]").replace(
    "NAME = NAME - NAME.mean()", "returns, values = NAME, critic(states).squeeze(1)\n    NAME = WORTH")
OWN = " + 0.5 * (returns - values).pow(2).mean()"


@pytest.mark.parametrize(("worth", "loss", "wrong"), [
    ("returns - values", "-(log_probs * adv).mean()" + OWN, True), ("returns - values", "-(log_probs * adv).mean()", True),
    ("returns - values", "-(log_probs * adv).mean() + 0.5 * adv.pow(2).mean()", True),
    ("returns - values", "-(log_probs * adv.detach()).mean() + 0.5 * adv.pow(2).mean()", False),
    ("returns - values", "-(log_probs * adv.detach()).mean() + nn.functional.smooth_l1_loss(values, returns)", False),
    ("(returns - values).detach()", "-(log_probs * adv).mean()" + OWN, False),
    ("returns - values.detach()", "-(log_probs * adv).mean()", False),
    ("returns - values", f"-torch.min({RATIO} * adv, {RATIO}.clamp(0.8, 1.2) * adv).mean() + 0.5 * adv.pow(2).mean()", False)])
def test_a_worth_with_a_gradient(tmp_path: Path, worth: str, loss: str, *, wrong: bool) -> None:
    seen = watch(tmp_path, CRITIC.replace("WORTH", worth).replace("LOSS", loss).replace("NAME", "adv"))
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("L230" in found(seen)) is wrong, seen.policy


KERAS = """
import keras, numpy as np, tensorflow as tf
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])
optimizer = keras.optimizers.Adam(1e-2)
@tf.function
def update(states, actions, advantages):
    with tf.GradientTape() as tape:
        chosen = tf.gather(tf.nn.log_softmax(net(states)), actions, batch_dims=1)
        loss = SIGNtf.reduce_mean(chosen * advantages)
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss
for number in range(40):
    states = rng.normal(size=(32, 4)).astype("float32")
    actions = tf.random.categorical(net(states), 1)[:, 0].numpy().astype("int32")
    advantages = (rng.normal(size=32) + (actions == states[:, :3].argmax(1))).astype("float32")
    update(states, actions, advantages - advantages.mean())
"""


@pytest.mark.parametrize(("sign", "wrong"), [("", True), ("-", False)])
def test_a_loop_with_a_tape(tmp_path: Path, sign: str, *, wrong: bool) -> None:
    seen = watch_keras(tmp_path, KERAS.replace("SIGN", sign))
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert ("L216" in found(seen)) is wrong
    assert seen.policy is not None


@pytest.mark.parametrize(("bonus", "wrong"), [
    (" + 0.1 * policy.entropy().mean()", True), (" - 0.1 * policy.entropy().mean()", False), ("", False),
    (" + 0.1 * policy.entropy().mean().detach()", False)])
def test_the_sign_of_an_entropy(tmp_path: Path, bonus: str, *, wrong: bool) -> None:
    text = TEXT.replace("LOSS", "-(log_probs * advantages).mean()" + bonus).replace("NAME", "advantages")
    seen = watch(tmp_path, text)
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert ("L216" in found(seen)) is wrong, seen.entropy
    if wrong:
        assert seen.entropy is not None
        assert seen.entropy.site is not None
        assert "entropy()" in seen.entropy.site.source


@pytest.mark.parametrize(("sign", "wrong"), [("+", True), ("-", False)])
@pytest.mark.parametrize("made", ["tf.reduce_mean(-tf.reduce_sum(p * tf.math.log(p), 1))", "-tf.reduce_sum(p * tf.math.log(p), 1)"])
def test_an_entropy_by_hand(tmp_path: Path, sign: str, made: str, *, wrong: bool) -> None:
    first = f"        scores = net(states)\n        p = tf.nn.softmax(scores)\n        entropy = {made}\n"
    text = KERAS.replace("SIGN", "-").replace("log_softmax(net(states))", "log_softmax(scores)").replace(
        "        chosen = ", first + "        chosen = ").replace(
        "(chosen * advantages)", f"(chosen * advantages) {sign} 0.1 * tf.reduce_mean(entropy)")
    seen = watch_keras(tmp_path, text)
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert ("L216" in found(seen)) is wrong, seen.entropy
