"""Straight-through estimates under watch: cut off whole, the gradient stops where it was to pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.frameworks.watch.straight import cut_whole, turned
from tests.frameworks.watching import found, watch

CODE = """
def one(z, q):
    return stop_gradient(z + (q - z))


def two(z, q):
    both = z + q.mul(2) - z
    return both.detach()


def three(z, q):
    return z + (q - z).detach(), (1 + z - 1).detach(), (z + q).data
"""
TORCH = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
x = torch.randn(256, 8)
class Codes(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.dec, self.book = nn.Linear(8, 4), nn.Linear(4, 8), nn.Embedding(16, 4)
    def forward(self, x):
        z = self.enc(x)
        q = self.book(torch.cdist(z, self.book.weight).argmin(1))
        near = F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
        made = MADE
        return self.dec(made), near
model = Codes()
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
for epoch in range(6):
    for xb in x.split(32):
        made, near = model(xb)
        loss = F.mse_loss(made, xb) + near
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
KERAS = """
import keras, tensorflow as tf
from keras import layers
keras.utils.set_random_seed(0)
class Codes(layers.Layer):
    def __init__(self):
        super().__init__()
        self.book = layers.Embedding(16, 4)
    def call(self, z):
        apart = tf.reduce_sum((z[:, None] - self.book(tf.range(16))[None]) ** 2, -1)
        q = self.book(tf.argmin(apart, -1))
        self.add_loss(tf.reduce_mean((q - tf.stop_gradient(z)) ** 2) + 0.25 * tf.reduce_mean((tf.stop_gradient(q) - z) ** 2))
        return MADE
given = keras.Input((8,))
model = keras.Model(given, layers.Dense(8)(Codes()(layers.Dense(4)(given))))
model.compile("adam", "mse")
x = tf.random.normal((256, 8))
model.fit(x, x, batch_size=32, epochs=4, verbose=0)
"""


def test_the_same_part_added_and_taken_away(tmp_path: Path) -> None:
    path = tmp_path / "codes.py"
    path.write_text(CODE)
    places = {line: (str(path), line, "f") for line in range(1, len(CODE.splitlines()) + 1)}
    assert [line for line, place in places.items() if cut_whole([place])] == [3, 8]
    assert cut_whole([None, places[12], places[8]]) == places[8]


TURNED = """
def one(z, book):
    codes = apart(z, book).argmin(-1)
    q = torch.stack([book[code] for code in codes])
    return q + (z - q).detach(), z + (q - z).detach()


def two(x):
    q = x.round()
    x = (x - q).detach() + q
    left = x - book(near(x).argmin(1))
    again = book(near(left).argmin(1))
    return left + (again - left).detach()


def three(hard, soft):
    return hard + (soft - hard).detach(), soft + (hard - soft).detach()
"""


def test_a_decision_that_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "codes.py"
    path.write_text(TURNED)
    assert [line for line in range(1, len(TURNED.splitlines()) + 1) if turned([(str(path), line, "f")])] == [5, 10]


@pytest.mark.parametrize(("library", "made", "fault"), [
    ("torch", "(z + q - z).detach()", True), ("torch", "z + (q - z).detach()", False),
    ("torch", "z + q.detach() - z", True), ("torch", "q + (z - q).detach()", True), ("tensorflow", "q + tf.stop_gradient(z - q)", True),
    ("tensorflow", "tf.round(z) + tf.stop_gradient(z - tf.round(z))", True), ("tensorflow", "z + tf.stop_gradient(q) - z", True),
    ("tensorflow", "tf.stop_gradient(z + (q - z))", True), ("tensorflow", "z + tf.stop_gradient(q - z)", False)])
def test_an_estimate_that_is_cut_off_whole(tmp_path: Path, library: str, made: str, *, fault: bool) -> None:
    pytest.importorskip(library)
    seen = watch(tmp_path, (TORCH if library == "torch" else KERAS).replace("MADE", made), seconds=60)
    assert (found(seen)[:1] == ["G302"]) is fault, found(seen)
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding.site is not None
        assert made in finding.site.source
