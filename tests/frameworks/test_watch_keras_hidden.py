"""What a Keras step computes with and no model knows; and what a variational autoencoder's divergence weighs in it."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import watch
from tests.frameworks.watching import found

HEAD = """
import numpy as np
import tensorflow as tf
import keras
from keras import layers
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
"""
TABLES = HEAD + """
class Tables:
    def __init__(self):
        self.users = layers.Embedding(30, 4, embeddings_initializer=keras.initializers.RandomNormal(stddev=0.3))
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.kept = KEPT
        self.out = layers.Dense(1)
    def call(self, users):
        return self.out(USERS(users))
users = rng.integers(0, 30, 640).astype("int32")
model = Net()
optimizer = keras.optimizers.Adam(0.05)
TRAIN
"""
FIT = """
model.compile(optimizer=optimizer, loss="mse")
model.fit(users, rng.normal(size=(30, 1))[users].astype("float32"), batch_size=16, epochs=1, verbose=0)
"""
LOOP = """
wanted = rng.normal(size=(30, 1))[users].astype("float32")
for first in range(0, 640, 16):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(users[first:first + 16], training=True) - wanted[first:first + 16]) ** 2)
    weights = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
"""
TWO = HEAD + """
teacher = keras.Sequential([keras.Input((6,)), layers.Dense(8, activation="relu"), layers.Dense(2)])
class Student(keras.Model):
    def __init__(self):
        super().__init__()
        self.net = keras.Sequential([layers.Dense(8, activation="relu"), layers.Dense(2)])
    def call(self, x):
        return self.net(x)
    def train_step(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((teacher(x) - self(x, training=True)) ** 2)
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_weights), self.trainable_weights))
        return {"loss": loss}
model = Student()
model.compile(optimizer=keras.optimizers.Adam(0.01))
model.fit(rng.normal(size=(640, 6)).astype("float32"), batch_size=16, epochs=1, verbose=0)
"""
SCALES = HEAD + """
class Scaled(layers.Layer):
    def __init__(self):
        super().__init__()
        self.scales = []
        self.scales.append(MADE)
    def call(self, x):
        return keras.ops.tanh(x * self.scales[0])
model = keras.Sequential([keras.Input((6,)), Scaled(), layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
x = rng.normal(size=(640, 6)).astype("float32")
model.fit(x, np.tanh(2 * x).sum(1, keepdims=True), batch_size=16, epochs=1, verbose=0)
"""
VAE = HEAD + """
class Draw(layers.Layer):
    def call(self, given):
        return given[0] + keras.ops.exp(0.5 * given[1]) * keras.random.normal(keras.ops.shape(given[0]))
x = keras.Input((20,))
h = layers.Dense(32, activation="relu")(x)
mean, spread = layers.Dense(3)(h), layers.Dense(3)(h)
encoder = keras.Model(x, [mean, spread, Draw()([mean, spread])])
decoder = keras.Sequential([keras.Input((3,)), layers.Dense(32, activation="relu"), layers.Dense(20ACTIVATION)])
class VAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder
    def call(self, x):
        return self.decoder(self.encoder(x)[0])
    def train_step(self, x):
        with tf.GradientTape() as tape:
            mean, spread, z = self.encoder(x, training=True)
            out = self.decoder(z, training=True)
            kl = -0.5 * keras.ops.sum(1 + spread - mean ** 2 - keras.ops.exp(spread), axis=1)
            loss = RECONSTRUCTION + keras.ops.mean(kl)
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_weights), self.trainable_weights))
        return {"loss": loss}
codes = rng.normal(size=(640, 3))
data = (1 / (1 + np.exp(-codes @ rng.normal(size=(3, 20)) * 2))).astype("float32")
model = VAE()
model.compile(optimizer=keras.optimizers.Adam(0.01))
model.fit(data, batch_size=32, epochs=4, verbose=0)
"""


@pytest.mark.parametrize("train", [FIT, LOOP], ids=["fit", "loop"])
@pytest.mark.parametrize(("kept", "users", "fault"), [("Tables()", "self.kept.users", True), ("Tables().users", "self.kept", False),
                                                      ("[Tables().users]", "self.kept[0]", False)])
def test_layers_in_an_object_that_keras_does_not_look_into(tmp_path: Path, kept: str, users: str, train: str, *, fault: bool) -> None:
    seen = watch(tmp_path, TABLES.replace("KEPT", kept).replace("USERS", users).replace("TRAIN", train), seconds=60)
    assert len(seen.steps) > 20
    assert (found(seen) == ["G303"]) is fault, found(seen)
    if fault:
        site = next(result.finding.site for result in walk(seen) if result.finding)
        assert site is not None
        assert site.source == "self.kept = Tables()"


@pytest.mark.parametrize(("made", "fault"), [
    ('tf.Variable(np.full(6, 0.05, "float32"))', True), ('tf.Variable(np.full(6, 0.05, "float32"), trainable=False)', False),
    ('self.add_weight(shape=(6,), initializer="ones")', False)])
def test_variables_in_a_list_of_a_layer(tmp_path: Path, made: str, *, fault: bool) -> None:
    seen = watch(tmp_path, SCALES.replace("MADE", made), seconds=60)
    assert len(seen.steps) > 20
    assert (found(seen) == ["G303"]) is fault, found(seen)
    if fault:
        site = next(result.finding.site for result in walk(seen) if result.finding)
        assert site is not None
        assert site.source.startswith("self.scales.append(")


def test_a_teacher_is_no_part_of_the_model(tmp_path: Path) -> None:
    seen = watch(tmp_path, TWO)
    assert len(seen.steps) > 20
    assert found(seen) == []
    assert seen.model is not None
    assert seen.model.unregistered == []


@pytest.mark.parametrize(("activation", "reconstruction", "weight"), [
    (", activation='sigmoid'", "keras.ops.mean(keras.losses.binary_crossentropy(x, out))", 20.0),
    (", activation='sigmoid'", "20.0 * keras.ops.mean(keras.losses.binary_crossentropy(x, out))", 1.0),
    ("", "keras.ops.mean(keras.losses.binary_crossentropy(x, out, from_logits=True))", 20.0),
    ("", "keras.ops.mean((out - x) ** 2)", 20.0), ("", "keras.ops.mean(keras.ops.sum((x - out) ** 2, axis=1))", 1.0)])
def test_what_a_latent_number_weighs(tmp_path: Path, activation: str, reconstruction: str, weight: float) -> None:
    seen = watch(tmp_path, VAE.replace("ACTIVATION", activation).replace("RECONSTRUCTION", reconstruction), steps=60)
    assert len(seen.divergence) >= 3
    assert [round(each.weight, 2) for each in seen.divergence] == [weight] * len(seen.divergence)
    assert seen.divergence[0].numbers == 20
    assert seen.sites["loss"].source.startswith("loss = ")


APART = {"mean, spread = layers.Dense(3)(h), layers.Dense(3)(h)\n": "",
         "keras.Model(x, [mean, spread, Draw()([mean, spread])])": "keras.Model(x, h)",
         "self.encoder, self.decoder = encoder, decoder": "self.encoder, self.decoder, self.draw = encoder, decoder, Draw()\n"
                                                         "        self.to_mean, self.to_spread = layers.Dense(3), layers.Dense(3)",
         "self.encoder(x)[0]": "self.to_mean(self.encoder(x))",
         "mean, spread, z = self.encoder(x, training=True)": "h = self.encoder(x, training=True)\n"
                                                            "            mean, spread = self.to_mean(h), self.to_spread(h)\n"
                                                            "            z = self.draw([mean, spread])"}


@pytest.mark.parametrize(("reconstruction", "weight"), [
    ("keras.ops.mean((out - x) ** 2)", 20.0), ("keras.ops.mean(keras.ops.sum((x - out) ** 2, axis=1))", 1.0)])
def test_a_mean_and_a_variance_of_two_layers(tmp_path: Path, reconstruction: str, weight: float) -> None:
    """The encoder gives one tensor of even width, which is neither."""
    text = VAE.replace("ACTIVATION", "").replace("RECONSTRUCTION", reconstruction)
    for before, after in APART.items():
        assert before in text
        text = text.replace(before, after)
    seen = watch(tmp_path, text, steps=60)
    assert seen.exception is None, seen.exception
    assert len(seen.divergence) >= 3
    assert [round(each.weight, 2) for each in seen.divergence] == [weight] * len(seen.divergence)


TAPE = HEAD + """
encoder = keras.Sequential([keras.Input((20,)), layers.Dense(32, activation="relu"), layers.Dense(6)])
decoder = keras.Sequential([keras.Input((3,)), layers.Dense(32, activation="relu"), layers.Dense(20)])
optimizer = keras.optimizers.Adam(0.01)
weights = encoder.trainable_variables + decoder.trainable_variables
codes = rng.normal(size=(640, 3))
data = (1 / (1 + np.exp(-codes @ rng.normal(size=(3, 20)) * 2))).astype("float32")
@tf.function
def step(xb):
    with tf.GradientTape() as tape:
        mean, spread = tf.split(encoder(xb), 2, axis=1)
        scores = decoder(mean + tf.exp(0.5 * spread) * tf.random.normal(tf.shape(mean)))
        each = tf.nn.sigmoid_cross_entropy_with_logits(labels=xb, logits=scores)
        kl = -0.5 * tf.reduce_sum(1 + spread - mean ** 2 - tf.exp(spread), axis=1)
        loss = tf.reduce_mean(tf.SUMMED(each, axis=1) + kl)
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
for epoch in range(4):
    for xb in tf.data.Dataset.from_tensor_slices(data).batch(32):
        step(xb)
"""


@pytest.mark.parametrize(("summed", "weight", "codes"), [("reduce_mean", 20.0, ["L207"]), ("reduce_sum", 1.0, [])])
def test_what_a_latent_number_weighs_in_a_loop(tmp_path: Path, summed: str, weight: float, codes: list[str]) -> None:
    """One encoder gives both means and variances, in one tensor."""
    seen = watch(tmp_path, TAPE.replace("SUMMED", summed), steps=60, seconds=60)
    assert [each.step for each in seen.divergence][:4] == [1, 2, 3, 10]
    assert [round(each.weight, 2) for each in seen.divergence] == [weight] * len(seen.divergence)
    assert found(seen) == codes
