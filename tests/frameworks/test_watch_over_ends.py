"""Returns that are summed up over the ends of episodes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, watch

TORCH = """
import torch
import torch.nn as nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
def returns_of(reward, done):
    sums, g = [], torch.zeros(reward.shape[1])
    for t in reversed(range(len(reward))):
        g = SUM
        sums.insert(0, g)
    return torch.stack(sums)
for _ in range(12):
    states, done = torch.randn(40, 6, 3), (torch.rand(40, 6) < 0.1).float()
    reward = REWARD
    MADE
    returns = returns_of(reward, done)
    returns = (returns - returns.mean()) / returns.std()
    chosen = torch.distributions.Categorical(logits=net(states))
    actions = chosen.sample()
    loss = -(chosen.log_prob(actions) * returns).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
OVER, CUT = "reward[t] + 0.9 * g", "reward[t] + 0.9 * g * (1 - done[t])"
NORMAL, ONES = "states[..., 0].clone()", "torch.ones(40, 6)"
# Marks of the step after: an episode begins where the last has ended. And rows that are filled up behind their only episode.
BEGUN = "first = done.roll(1, 0); done = done"
FILLED = "done = (torch.arange(40)[:, None] == torch.randint(20, 40, (6,))).float(); reward = reward * (done.flip(0).cumsum(0).flip(0) > 0)"
ACTIONS = "actions = torch.randint(0, 2, (40, 6)); done = torch.zeros(40, 6)"


@pytest.mark.parametrize(("sums", "reward", "made", "wrong"), [
    (OVER, NORMAL, "pass", True), (CUT, NORMAL, "pass", False), (CUT, NORMAL, BEGUN, False), (OVER, NORMAL, FILLED, False),
    (OVER, NORMAL, ACTIONS, False), (OVER, NORMAL, "done = (states[..., 1] > -1.3).float()", True),  # 1 where it goes on
    ("reward[t] + 0 * g", NORMAL, "pass", False)])
def test_a_policy(tmp_path: Path, sums: str, reward: str, made: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    text = TORCH.replace("SUM", sums).replace("REWARD", reward).replace("MADE", made)
    seen = watch(tmp_path, text, steps=12, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("L219" in found(seen)) is wrong, seen.ending
    if wrong:
        assert seen.ending is not None
        assert (seen.ending.name, seen.ending.reward) == ("done", "reward")
        assert seen.ending.site is not None
        assert "0.9 * g" in seen.ending.site.source


LISTS = """
import numpy as np
import torch
import torch.nn as nn
torch.manual_seed(0)
rng = np.random.default_rng(0)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(12):
    states, actions, rewards, ended = [], [], [], []
    for t in range(120):
        states.append([rng.normal()])
        actions.append(int(rng.integers(2)))
        rewards.append(1.0)
        ended.append(bool(rng.random() < 0.1))
    returns, g = [], 0.0
    for r, e in zip(reversed(rewards), reversed(ended)):
        g = SUM
        returns.insert(0, g)
    chosen = torch.log_softmax(net(torch.tensor(states, dtype=torch.float32)), 1)[range(120), actions]
    loss = -(chosen * torch.tensor(returns)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("sums", "wrong"), [("r + 0.9 * g", True), ("r + 0.9 * g * (not e)", False)])
def test_lists_and_rewards_that_are_all_one(tmp_path: Path, sums: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, LISTS.replace("SUM", sums), steps=12, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("L219" in found(seen)) is wrong, seen.ending


KERAS = """
import keras
import numpy as np
import tensorflow as tf
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(2)])
optimizer = keras.optimizers.Adam(1e-3)
def returns_of(reward, done):
    sums, g = np.zeros_like(reward), 0.0
    for t in range(len(reward) - 1, -1, -1):
        g = SUM
        sums[t] = g
    return sums
for _ in range(12):
    states = rng.normal(size=(120, 3)).astype("float32")
    batch = {"reward": states[:, 0].copy(), "done": rng.random(120) < 0.1, "actions": rng.integers(0, 2, 120)}
    returns = returns_of(batch["reward"], batch["done"])
    with tf.GradientTape() as tape:
        chosen = tf.gather(tf.nn.log_softmax(net(states)), batch["actions"], batch_dims=1)
        loss = -tf.reduce_mean(chosen * returns)
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
"""


@pytest.mark.parametrize(("sums", "wrong"), [("reward[t] + 0.9 * g", True), ("reward[t] + 0.9 * g * (1 - done[t])", False)])
def test_a_tape(tmp_path: Path, sums: str, *, wrong: bool) -> None:
    seen = test_watch_keras.watch(tmp_path, KERAS.replace("SUM", sums), steps=12, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("L219" in found(seen)) is wrong, seen.ending


CRITIC = """
import torch
import torch.nn as nn
torch.manual_seed(0)
body, policy, critic = nn.Sequential(nn.Linear(3, 16), nn.Tanh()), nn.Linear(16, 2), nn.Linear(16, 1)
optimizer = torch.optim.Adam([*body.parameters(), *policy.parameters(), *critic.parameters()], lr=1e-3)
def advantages_of(reward, done, value):
    made = torch.zeros_like(reward)
    for t in range(len(reward) - 2, -1, -1):
        on = WEIGHT
        made[t] = reward[t] + 0.97 * value[t + 1] * on - value[t] + 0.9 * on * made[t + 1]
    return made, made + value
for _ in range(12):
    states, done = torch.randn(40, 6, 3), (torch.rand(40, 6) < 0.1).float()
    reward = REWARD
    with torch.no_grad():
        value = critic(body(states)).squeeze(-1)
    advantage, target = advantages_of(reward, done, value)
    states, advantage, target = states.flatten(0, 1), advantage.flatten(), target.flatten()
    actions = torch.randint(0, 2, (240,))
    chosen = torch.distributions.Categorical(logits=policy(body(states)))
    scaled = (advantage - advantage.mean()) / advantage.std()
    loss = -(chosen.log_prob(actions) * scaled).mean() + (critic(body(states)).squeeze(-1) - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("reward", [NORMAL, ONES])
@pytest.mark.parametrize(("weight", "wrong"), [("1", True), ("1 - done[t]", False)])
def test_advantages_with_a_critic_laid_flat(tmp_path: Path, weight: str, reward: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, CRITIC.replace("WEIGHT", weight).replace("REWARD", reward), steps=12, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("L219" in found(seen)) is wrong, seen.ending
    if wrong:
        assert seen.ending is not None
        assert seen.ending.site is not None
        assert "made[t + 1]" in seen.ending.site.source
