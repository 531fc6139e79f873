"""Generators and discriminators of Keras, in a step of `fit` and in a loop with tapes."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

MODELS = """
import keras, numpy as np, tensorflow as tf
from keras import layers
keras.utils.set_random_seed(0)
rows = np.tanh(np.random.default_rng(0).normal(size=(512, 8)) + 0.5).astype("float32")
G = keras.Sequential([keras.Input((4,)), layers.Dense(16, "relu"), layers.Dense(8, ENDING)])
D = keras.Sequential([keras.Input((8,)), layers.Dense(16, "relu"), layers.Dense(1)])
bce = keras.losses.BinaryCrossentropy(from_logits=True)
opt_g, opt_d = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)
def train(real):
    n = tf.shape(real)[0]
    BEFORE
    with tf.GradientTape() as tape:
        d_loss = JUDGED
    opt_d.apply_gradients(zip(tape.gradient(d_loss, D.trainable_variables), D.trainable_variables))
    with tf.GradientTape() as tape:
        score = D(G(tf.random.normal((n, 4)), training=True), training=True)
        g_loss = MADE
    opt_g.apply_gradients(zip(tape.gradient(g_loss, G.trainable_variables), G.trainable_variables))
    return d_loss, g_loss
"""
FIT = """
class GAN(keras.Model):
    def __init__(self):
        super().__init__()
        self.g, self.d = G, D
    def train_step(self, real):
        d_loss, g_loss = train(real)
        return {"d": d_loss, "g": g_loss}
gan = GAN()
gan.compile()
gan.fit(rows, epochs=2, batch_size=32, verbose=0)
"""
LOOP = """
TRACED
def one(real):
    return train(real)
for epoch in range(2):
    for real in tf.data.Dataset.from_tensor_slices(rows).shuffle(512).batch(32):
        one(real)
"""
FAKES = "fake = G(tf.random.normal((n, 4)), training=True)"
JOINED = "bce(tf.concat([tf.ones((n, 1)), tf.zeros((n, 1))], 0), D(tf.concat([fake, real], 0), training=True))"
APART = "bce(tf.ones((n, 1)), D(real, training=True)) + bce(tf.zeros((n, 1)), D(fake, training=True))"
CRITIC = "tf.reduce_mean(D(fake, training=True)) - tf.reduce_mean(D(real, training=True))"
ONES, ZEROS = "bce(tf.ones_like(score), score)", "bce(tf.zeros_like(score), score)"
LOOPS = [FIT, LOOP.replace("TRACED", ""), LOOP.replace("TRACED", "@tf.function")]


def gan(judged: str, made: str, loop: str, ending: str = '"tanh"') -> str:
    return MODELS.replace("BEFORE", FAKES).replace("JUDGED", judged).replace("MADE", made).replace("ENDING", ending) + loop


@pytest.mark.parametrize("loop", LOOPS, ids=["fit", "loop", "function"])
@pytest.mark.parametrize(("judged", "made", "wrong"), [
    (JOINED, ONES, True), (JOINED, ZEROS, False), (APART, ZEROS, True), (APART, ONES, False), (CRITIC, "tf.reduce_mean(score)", True),
    (CRITIC, "-tf.reduce_mean(score)", False)])
def test_what_the_maker_asks_for(tmp_path: Path, judged: str, made: str, loop: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    seen = watch(tmp_path, gan(judged, made, loop), probe_seconds=0.0)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert seen.players is not None
    assert seen.players.squashed == "tanh"
    results = {result.code: result.finding for result in walk(seen) if result.state == "found"}
    assert ("L220" in results) is wrong, seen.players
    assert "D120" not in results, seen.players
    if wrong:
        assert results["L220"] is not None
        assert results["L220"].site is not None
        assert results["L220"].site.source.startswith("score = D(G(")


@pytest.mark.parametrize("loop", LOOPS[:2], ids=["fit", "loop"])
@pytest.mark.parametrize(("ending", "wrong"), [('"sigmoid"', True), ("None", False)])
def test_the_ranges_of_both(tmp_path: Path, ending: str, loop: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    seen = watch(tmp_path, gan(APART, ONES, loop, ending), probe_seconds=0.0)
    assert ("D120" in found(seen)) is wrong, seen.players


PENALTY = "penalised(real, fake) + " + CRITIC
PENALISED = """
def penalised(real, fake):
    between = 0.5 * real + 0.5 * fake
    with tf.GradientTape() as inner:
        inner.watch(between)
        between_score = D(between, training=True)
    slope = inner.gradient(between_score, between)
    return 10 * tf.reduce_mean((tf.sqrt(tf.reduce_sum(slope ** 2, 1) + 1e-12) - 1) ** 2)
"""


@pytest.mark.parametrize("loop", LOOPS, ids=["fit", "loop", "function"])
def test_a_slope_that_is_penalised_trains_nobody(tmp_path: Path, loop: str) -> None:
    pytest.importorskip("keras")
    text = gan(PENALTY, "-tf.reduce_mean(score)", PENALISED + loop)
    seen = watch(tmp_path, text, probe_seconds=0.0)
    assert seen.exception is None, seen.exception
    assert seen.players is not None
    assert "L220" not in found(seen), seen.players
    assert set(seen.players.through) == {-1.0}


def test_rows_that_were_changed_on_the_way_tell_nothing(tmp_path: Path) -> None:
    pytest.importorskip("keras")
    noisy = JOINED.replace("tf.concat([fake, real], 0)", "tf.concat([fake, real], 0) + 0.1 * tf.random.normal((2 * n, 8))")
    seen = watch(tmp_path, gan(noisy, ONES, FIT), probe_seconds=0.0)
    assert seen.players is None
    assert "L220" not in found(seen)


PULL = " + 0.01 * tf.reduce_mean(tf.square(FAKE - real))"  # something that trains the maker besides


@pytest.mark.parametrize("loop", LOOPS, ids=["fit", "loop", "function"])
@pytest.mark.parametrize(("score", "made", "line"), [
    ("out = G(noise, training=True)\n        score = D(tf.stop_gradient(out), training=True)", ONES + PULL.replace("FAKE", "out"),
     "score = D(tf.stop_gradient(out)"),
    ("score = D(fake, training=True)", ONES + " + 0.01 * tf.add_n([tf.nn.l2_loss(w) for w in G.trainable_variables])", "score = D(fake"),
    ("out = G(noise, training=True)\n        score = D(out, training=True)", ONES + PULL.replace("FAKE", "out"), "")],
    ids=["stopped", "made before the tape", "whole"])
def test_a_score_that_trains_nobody(tmp_path: Path, score: str, made: str, line: str, loop: str) -> None:
    pytest.importorskip("keras")
    text = gan(APART, made, loop)
    before = "score = D(G(tf.random.normal((n, 4)), training=True), training=True)"
    assert before in text
    text = text.replace(before, score).replace("    BEFORE", "    ").replace(FAKES, "noise = tf.random.normal((n, 4))\n    " + FAKES)
    seen = watch(tmp_path, text, probe_seconds=0.0)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert (found(seen)[:1] == ["G302"]) is bool(line), (found(seen), seen.players)
    if line:
        told = next(result.finding for result in walk(seen) if result.finding)
        assert told is not None
        assert told.site is not None
        assert told.site.source.startswith(line)


@pytest.mark.parametrize("loop", LOOPS[:2], ids=["fit", "loop"])
@pytest.mark.parametrize(("judge", "given"), [("layers.Input((9,))", "tf.concat([kinds, ROWS], 1)"),
                                              ("[keras.Input((8,)), keras.Input((1,))]", "[ROWS, kinds]")], ids=["joined", "listed"])
def test_a_condition_beside_the_rows(tmp_path: Path, judge: str, given: str, loop: str) -> None:
    """A discriminator that is shown what was asked for knows the made rows as well."""
    pytest.importorskip("keras")
    text = gan(APART, ZEROS, loop)
    if judge.startswith("["):
        made = ("a, b = keras.Input((8,)), keras.Input((1,))\n"
                "D = keras.Model([a, b], layers.Dense(1)(layers.Dense(16, 'relu')(layers.Concatenate()([a, b]))))")
    else:
        made = 'D = keras.Sequential([keras.Input((9,)), layers.Dense(16, "relu"), layers.Dense(1)])'
    text = text.replace('D = keras.Sequential([keras.Input((8,)), layers.Dense(16, "relu"), layers.Dense(1)])', made)
    text = text.replace("n = tf.shape(real)[0]\n", "n = tf.shape(real)[0]\n    kinds = tf.ones((n, 1))\n")
    for rows in ("real", "fake", "G(tf.random.normal((n, 4)), training=True)"):
        text = text.replace(f"D({rows}, training", f"D({given.replace('ROWS', rows)}, training")
    seen = watch(tmp_path, text, probe_seconds=0.0)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert seen.players is not None
    assert "L220" in found(seen), seen.players


ACTOR = """
import keras, numpy as np, tensorflow as tf
from keras import layers
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
actor = keras.Sequential([keras.Input((4,)), layers.Dense(16, "relu"), layers.Dense(3)])
critic = keras.Sequential([keras.Input((4,)), layers.Dense(16, "relu"), layers.Dense(1)])
one, other = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)
for step in range(40):
    seen = tf.constant(rng.normal(size=(32, 4)).astype("float32"))
    taken, gained = tf.constant(rng.integers(0, 3, 32)), tf.constant(rng.normal(size=32).astype("float32"))
    with tf.GradientTape(persistent=True) as tape:
        better = gained - critic(seen)[:, 0]
        losses = keras.losses.sparse_categorical_crossentropy(taken, actor(seen), from_logits=True)
        acting, judging = tf.reduce_mean(losses * better), tf.reduce_mean(better ** 2)
    one.apply_gradients(zip(tape.gradient(acting, actor.trainable_variables), actor.trainable_variables))
    other.apply_gradients(zip(tape.gradient(judging, critic.trainable_variables), critic.trainable_variables))
"""


def test_a_critic_that_judges_what_nobody_made(tmp_path: Path) -> None:
    pytest.importorskip("keras")
    seen = watch(tmp_path, ACTOR, probe_seconds=0.0)
    assert seen.exception is None, seen.exception
    assert "G302" not in found(seen), seen.players
