"""Contrastive losses, with and without a row's likeness with itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks import test_watch_keras
from tests.frameworks.watching import HEAD, found, watch

TORCH = HEAD + """
model = nn.Linear(10, 8)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
n = 16
own = torch.eye(2 * n, dtype=torch.bool)
other = torch.arange(2 * n).roll(n)
for epoch in range(2):
    for xb, _ in train:
        views = [F.normalize(model(xb + 0.1 * torch.randn_like(xb)), dim=1) for _ in range(2)]
        z = torch.cat(views)
        sim = z @ z.t() / 0.2
        LOSS
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
MASKED = "sim = sim.masked_fill(own, float('-inf'))\n        "
ENTROPY = "loss = F.cross_entropy(sim, other)"
BY_HAND = "loss = (torch.logsumexp(sim, 1) - sim[torch.arange(2 * n), other]).mean()"
CLIP = "loss = F.cross_entropy(views[0] @ views[1].t() / 0.2, torch.arange(n))"
TAUGHT = "loss = F.kl_div(F.log_softmax(sim, 1), F.softmax(torch.cat([xb, xb]) @ torch.cat([xb, xb]).t(), 1), reduction='batchmean')"
# Two views that come out alike to the last digit, the diagonal being the pair that is wanted.
TWICE = "u, v = model(xb), model(xb)\n        sim = u @ v.t()\n        loss = (torch.logsumexp(sim, 1) - sim.diagonal()).mean()"


@pytest.mark.parametrize(("loss", "wrong"), [
    (ENTROPY, True), (BY_HAND, True), ("loss = -F.log_softmax(sim, 1)[torch.arange(2 * n), other].mean()", True),
    ("sim = -torch.cdist(z, z) / 0.2\n        " + ENTROPY, True), ("sim = -(z[:, None] - z[None]).pow(2).sum(2)\n        " + ENTROPY, True),
    ("sim = sim - sim.max()\n        " + BY_HAND, True),
    (MASKED + ENTROPY, False), (MASKED + BY_HAND, False), (CLIP, False), (TAUGHT, False), (TWICE, False),
    ("sim = views[0] @ model(xb).t()\n        loss = F.cross_entropy(sim, torch.arange(n))", False)])
def test_a_loop(tmp_path: Path, loss: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("LOSS", loss), steps=20, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("L218" in found(seen)) is wrong, seen.likeness
    if wrong:
        assert seen.likeness is not None
        assert seen.likeness.rows == 32
        assert seen.likeness.site is not None
        assert "sim" in seen.likeness.site.source


KERAS = """
import numpy as np, tensorflow as tf, NAME as keras
keras.utils.set_random_seed(0)
X = np.random.default_rng(0).normal(size=(320, 10)).astype("float32")
model = keras.Sequential([keras.layers.Input((10,)), keras.layers.Dense(8)])
optimizer = keras.optimizers.Adam(1e-2)
n = 16
other = tf.roll(tf.range(2 * n), n, 0)
for epoch in range(2):
    for xb in tf.data.Dataset.from_tensor_slices(X).batch(n):
        with tf.GradientTape() as tape:
            views = [tf.math.l2_normalize(model(xb + tf.random.normal(xb.shape, stddev=0.1), training=True), 1) for _ in range(2)]
            z = tf.concat(views, 0)
            sim = tf.matmul(z, z, transpose_b=True) / 0.2
            LOSS
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""
LEFT_OUT = "sim = tf.where(tf.eye(2 * n, dtype=tf.bool), -1e9, sim)\n            "
OBJECT = "loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)(other, sim)"
SUMMED = "loss = tf.reduce_mean(tf.reduce_logsumexp(sim, 1) - tf.gather(sim, other, batch_dims=1))"


@pytest.mark.parametrize("name", ["keras", "tf_keras"])
@pytest.mark.parametrize(("loss", "wrong"), [
    (OBJECT, True), (SUMMED, True), (OBJECT.replace("other", "tf.range(2 * n)"), False),
    (LEFT_OUT + OBJECT, False), (LEFT_OUT + SUMMED, False)])
def test_a_tape(tmp_path: Path, name: str, loss: str, *, wrong: bool) -> None:
    seen = test_watch_keras.watch(tmp_path, KERAS.replace("LOSS", loss).replace("NAME", name), steps=20, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert ("L218" in found(seen)) is wrong, seen.likeness
