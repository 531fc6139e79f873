"""Keras under watch: gradients added up by hand, functions that are traced anew, hard decisions, metrics that cut raw scores."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import HEAD, KERAS, watch
from tests.frameworks.watching import found

NET = """
net = keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
"""
LOOP = NET + """
optimizer = keras.optimizers.SGD(0.1)
buffers = [tf.Variable(tf.zeros_like(weight), trainable=False) for weight in net.trainable_variables]

@tf.function
def add(xb, yb):
    with tf.GradientTape() as tape:
        loss = loss_of(yb, net(xb, training=True))
    for buffer, gradient in zip(buffers, tape.gradient(loss, net.trainable_variables)):
        buffer.assign_add(gradient / 2)
    return loss

for epoch in range(2):
    for number, (xb, yb) in enumerate(tf.data.Dataset.from_tensor_slices((x, y)).batch(32)):
        add(xb, yb)
        if number % 2:
            optimizer.apply_gradients(zip(buffers, net.trainable_variables))
            RESET
"""
FIT = NET + """
class Adding(keras.Model):
    def __init__(self, net):
        super().__init__()
        self.net, self.seen = net, tf.Variable(0, trainable=False)
        self.buffers = [tf.Variable(tf.zeros(weight.shape), trainable=False) for weight in net.trainable_variables]
    def call(self, x, training=False):
        return self.net(x, training=training)
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = loss_of(y, self(x, training=True))
        for buffer, gradient in zip(self.buffers, tape.gradient(loss, self.net.trainable_variables)):
            buffer.assign_add(gradient / 2)
        self.seen.assign_add(1)
        tf.cond(self.seen % 2 == 0, self.apply, lambda: None)
        return {"loss": loss}
    def apply(self):
        self.optimizer.apply_gradients([(buffer.value(), weight) for buffer, weight in zip(self.buffers, self.net.trainable_variables)])
        RESET
model = Adding(net)
model.compile(optimizer=keras.optimizers.SGD(0.1))
model.fit(x, y, batch_size=32, epochs=2, verbose=0)
"""
ZERO = "for buffer in BUFFERS: buffer.assign(tf.zeros_like(buffer))"


@pytest.mark.parametrize(("body", "buffers"), [(LOOP, "buffers"), (FIT, "self.buffers")], ids=["loop", "fit"])
@pytest.mark.parametrize("reset", [True, False])
def test_gradients_that_are_added_up(body: str, buffers: str, reset: bool, tmp_path: Path) -> None:
    body = body.replace("RESET", ZERO.replace("BUFFERS", buffers) if reset else "pass")
    seen = watch(tmp_path, (HEAD + body).replace("NAME", "keras"))
    assert seen.warnings == []
    assert seen.buffers is not None
    assert seen.buffers.variables == 4
    assert ("S403" in found(seen)) is not reset
    if not reset:
        site = next(result.finding.site for result in walk(seen) if result.finding and result.code == "S403")
        assert site is not None
        assert "apply_gradients" in site.source


def test_a_reset_before_the_first_batch_is_none(tmp_path: Path) -> None:
    early = "RESET_ALL\nfor epoch in range(2):".replace("RESET_ALL", ZERO.replace("BUFFERS", "buffers"))
    body = LOOP.replace("for epoch in range(2):", early).replace("RESET", "pass")
    assert "S403" in found(watch(tmp_path, (HEAD + body).replace("NAME", "keras")))


def test_a_reset_after_many_batches(tmp_path: Path) -> None:
    body = FIT.replace("RESET", ZERO.replace("BUFFERS", "self.buffers")).replace("self.seen % 2", "self.seen % 16")
    body = body.replace("keras.optimizers.SGD(0.1))", "keras.optimizers.SGD(0.1), run_eagerly=True)")
    seen = watch(tmp_path, (HEAD + body).replace("NAME", "keras"))
    assert seen.buffers is not None
    assert "S403" not in found(seen)


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize("optimizer", ["Adam(0.01)", "SGD(0.01, momentum=0.9)", "Adagrad(0.1)", "RMSprop(0.01)"])
def test_what_an_optimizer_adds_up(name: str, optimizer: str, tmp_path: Path) -> None:
    loop = TRACED.replace("RATE", "tf.constant(0.01)").replace("SGD(0.1)", optimizer)
    seen = watch(tmp_path, (HEAD + loop).replace("NAME", name))
    assert (seen.buffers, found(seen)) == (None, []), seen.sites.get("accumulated")


TRACED = NET + """
optimizer = keras.optimizers.SGD(0.1)
optimizer.build(net.trainable_variables)

@tf.function
def step(xb, yb, rate):
    with tf.GradientTape() as tape:
        loss = loss_of(yb, net(xb, training=True))
    optimizer.learning_rate.assign(rate)
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss

for number, (xb, yb) in enumerate(tf.data.Dataset.from_tensor_slices((x, y)).batch(32)):
    step(xb, yb, RATE)
"""


@pytest.mark.parametrize(("rate", "wrong"), [("0.1 / (1 + number)", True), ("tf.constant(0.1 / (1 + number))", False), ("0.1", False)])
def test_a_function_that_is_given_other_numbers_each_time(rate: str, wrong: bool, tmp_path: Path) -> None:
    seen = watch(tmp_path, (HEAD + TRACED.replace("RATE", rate)).replace("NAME", "keras"))
    assert ("R602" in found(seen)) is wrong


CODE = """
class Code(keras.layers.Layer):
    def call(self, p):
        code = tf.cast(p > 0.5, tf.float32)
        return RETURN
inputs = keras.Input((10,))
body = keras.layers.Dense(16, activation="sigmoid")(inputs)
aside = keras.layers.Dense(4, name="aside")(body)
model = keras.Model(inputs, [keras.layers.Dense(2, name="head")(Code()(body)), aside] if ASIDE else keras.layers.Dense(2)(Code()(body)))
class Step(keras.Model):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
    def call(self, x, training=False):
        made = self.inner(x, training=training)
        return made[0] if ASIDE else made
model = Step(model)
model.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=32, epochs=2, verbose=0)
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("made", "aside", "wrong"), [("code", False, True), ("p + tf.stop_gradient(code - p)", False, False),
                                                      ("p", True, False)],
                         ids=["hard", "straight through", "a branch that nobody reads"])
def test_a_hard_decision(name: str, made: str, aside: bool, wrong: bool, tmp_path: Path) -> None:
    text = CODE.replace("RETURN", made).replace("ASIDE", str(aside))
    seen = watch(tmp_path, (HEAD + text).replace("NAME", name))
    assert ("G302" in found(seen)) is wrong, (seen.warnings, seen.probes.skipped)
    assert seen.probes.unreached_matter is (True if wrong else False if aside else None)
    if wrong and name == "keras":  # the Keras before it runs a layer's code in a translation, which has other lines
        site = next(result.finding.site for result in walk(seen) if result.finding)
        assert site is not None
        assert site.source == "code = tf.cast(p > 0.5, tf.float32)"


SCORES = """
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile(
    optimizer=keras.optimizers.Adam(0.01),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[METRIC],
)
model.fit(x, y.astype("float32"), batch_size=32, epochs=2, validation_data=(x, y.astype("float32")), verbose=0)
"""


@pytest.mark.parametrize(("metric", "wrong"), [
    ('"accuracy"', True), ("keras.metrics.BinaryAccuracy(threshold=0.0)", False), ("keras.metrics.Precision()", True),
    ("keras.metrics.Precision(thresholds=0.0)", False), ("keras.metrics.AUC(from_logits=True)", False)])
def test_metrics_that_cut_raw_scores(metric: str, wrong: bool, tmp_path: Path) -> None:
    seen = watch(tmp_path, (HEAD + SCORES.replace("METRIC", metric)).replace("NAME", "keras"))
    assert ("E501" in found(seen)) is wrong, seen.evaluation.updates
    if wrong:
        site = next(result.finding.site for result in walk(seen) if result.finding)
        assert site is not None
        assert "metric" in site.source


CONTRASTIVE = """
def contrastive(y_true, y_pred):
    return tf.reduce_mean((1 - y_true) * tf.square(y_pred) + y_true * tf.square(tf.maximum(1 - y_pred, 0)))
class Contrastive(keras.losses.Loss):
    def call(self, y_true, y_pred):
        return contrastive(tf.cast(y_true, y_pred.dtype), y_pred)
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss=LOSS)
model.fit(tf.data.Dataset.from_tensor_slices((x, y.astype("float32"))).shuffle(640).batch(32), epochs=2, verbose=0)
"""


@pytest.mark.parametrize("name", KERAS)
def test_keras_lines_up_what_a_function_compares(name: str, tmp_path: Path) -> None:
    seen = watch(tmp_path, (HEAD + CONTRASTIVE.replace("LOSS", "contrastive")).replace("NAME", name))
    assert found(seen) == []


def test_keras_lines_up_nothing_for_a_class(tmp_path: Path) -> None:
    seen = watch(tmp_path, (HEAD + CONTRASTIVE.replace("LOSS", "Contrastive()")).replace("NAME", "keras"))
    assert "L203" in found(seen)


UNCONNECTED = """
def rounded(y_true, y_pred):
    answer = tf.where(y_pred >= 0.5, 1.0, 0.0)
    return tf.reduce_mean(tf.square(tf.cast(y_true, "float32") - answer), axis=-1)
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(keras.optimizers.Adam(0.01), rounded)
model.fit(x, y, batch_size=32, verbose=0)
"""


def test_the_line_of_a_loss_at_which_the_way_to_the_weights_ends(tmp_path: Path) -> None:
    seen = watch(tmp_path, (HEAD + UNCONNECTED).replace("NAME", "keras"))
    assert found(seen) == ["G302"]
    assert seen.sites["cut"].source == "answer = tf.where(y_pred >= 0.5, 1.0, 0.0)"


@pytest.mark.parametrize(("before", "behind", "codes"), [(True, False, ["S403"]), (False, True, [])])
def test_what_is_set_back_before_it_is_applied(tmp_path: Path, before: bool, behind: bool, codes: list[str]) -> None:
    zero = ZERO.replace("BUFFERS", "buffers")
    step = "            optimizer.apply_gradients(zip(buffers, net.trainable_variables))"
    text = LOOP.replace(step, f"            {zero}\n{step}" if before else step).replace("RESET", zero if behind else "pass")
    seen = watch(tmp_path, HEAD.replace("NAME", "keras") + text)
    assert [code for code in found(seen) if code == "S403"] == codes
