"""Two optimizers that hold the same weights: a critic that its generator trains as well."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks import test_watch_keras as small
from tests.frameworks.watching import found, watch

TORCH = """
import torch
from torch import nn
torch.manual_seed(0)
def net(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 32), nn.LeakyReLU(0.2), nn.Linear(32, n_out))
class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.generator, self.critic = net(4, 2), net(2, 1)
pair = Pair()
bce = nn.BCEWithLogitsLoss()
d_opt = torch.optim.Adam(pair.critic.parameters(), lr=1e-3)
g_opt = torch.optim.Adam(HELD, lr=1e-3)
for step in range(60):
    real = torch.randn(64, 2) * 0.3 + 1
    fake = pair.generator(torch.randn(64, 4))
    d_loss = bce(pair.critic(real), torch.ones(64, 1)) + bce(pair.critic(fake.detach()), torch.zeros(64, 1))
    d_opt.zero_grad()
    d_loss.backward()
    d_opt.step()
    g_loss = bce(pair.critic(pair.generator(torch.randn(64, 4))), torch.ones(64, 1))
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()
"""
TASKS = """
import torch
from torch import nn
torch.manual_seed(0)
x = torch.randn(640, 6)
y, z = x[:, :1] * 2, x[:, :1] + x[:, 1:2]
body, one, two = nn.Linear(6, 16), nn.Linear(16, 1), nn.Linear(16, 1)
slow = torch.optim.SGD(body.parameters(), lr=1e-3)
all_of_it = torch.optim.Adam([*body.parameters(), *one.parameters(), *two.parameters()], lr=1e-3)
for rows in torch.randperm(640).split(16):
    h = torch.relu(body(x[rows]))
    loss = ((one(h) - y[rows]) ** 2).mean() + ((two(h) - z[rows]) ** 2).mean()
    slow.zero_grad(); all_of_it.zero_grad()
    loss.backward()
    slow.step(); all_of_it.step()
"""
KERAS = """
def net(n_in, n_out):
    return keras.Sequential([keras.Input((n_in,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(n_out)])
class Pair(keras.Model):
    def __init__(self):
        super().__init__()
        self.generator, self.critic = net(4, 10), net(10, 1)
        self.bce = keras.losses.BinaryCrossentropy(from_logits=True)
        self.d_opt, self.g_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)
    def call(self, z):
        return self.generator(z)
    def train_step(self, real):
        with tf.GradientTape() as tape:
            a, b = self.critic(real, training=True), self.critic(self.generator(tf.random.normal((32, 4))), training=True)
            d_loss = self.bce(tf.ones_like(a), a) + self.bce(tf.zeros_like(b), b)
        own = self.critic.trainable_variables
        self.d_opt.apply_gradients(zip(tape.gradient(d_loss, own), own))
        with tf.GradientTape() as tape:
            b = self.critic(self.generator(tf.random.normal((32, 4)), training=True), training=True)
            g_loss = self.bce(tf.ones_like(b), b)
        own = HELD.trainable_variables
        self.g_opt.apply_gradients(zip(tape.gradient(g_loss, own), own))
        return {"d": d_loss, "g": g_loss}
pair = Pair()
pair.compile(optimizer="sgd")
pair(np.zeros((2, 4), "float32"))
pair.fit(x, batch_size=32, epochs=12, verbose=0)
"""


@pytest.mark.parametrize(("held", "fault"), [("pair.parameters()", True), ("pair.generator.parameters()", False)])
def test_torch(tmp_path: Path, held: str, *, fault: bool) -> None:
    seen = watch(tmp_path, TORCH.replace("HELD", held))
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("S405" in found(seen)) is fault, (found(seen), seen.opposed)
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding and result.code == "S405")
        assert finding.site is not None
        assert finding.site.source.startswith("g_opt =")


def test_two_optimizers_of_one_aim(tmp_path: Path) -> None:
    seen = watch(tmp_path, TASKS)
    assert seen.opposed is not None
    assert statistics.median(seen.opposed.cosines) > 0
    assert "S405" not in found(seen)


@pytest.mark.parametrize("keras", small.KERAS)
@pytest.mark.parametrize(("held", "fault"), [("self", True), ("self.generator", False)])
def test_keras(tmp_path: Path, keras: str, held: str, *, fault: bool) -> None:
    seen = small.watch(tmp_path, small.HEAD.replace("NAME", keras) + KERAS.replace("HELD", held), steps=200, patient_steps=200)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("S405" in found(seen)) is fault, (found(seen), seen.opposed)
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding and result.code == "S405")
        assert finding.site is not None
        assert finding.site.source.startswith("self.g_opt.apply")
