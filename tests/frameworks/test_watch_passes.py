"""Answers from one pass over shuffled rows, labels from another; and evaluations that go over their rows twice rightly."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.frameworks.watch import passes
from tests.frameworks.test_watch_keras import watch as watch_keras
from tests.frameworks.watching import found
from tests.frameworks.watching import watch as watch_torch

TORCH = """
import numpy as np, torch
from sklearn.metrics import accuracy_score, confusion_matrix
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x = torch.randn(400, 8)
y = (2 * x[:, 0] + x[:, 1] > 0).long() + (x[:, 2] > 1).long()
train = DataLoader(TensorDataset(x[:300], y[:300]), batch_size=30, shuffle=True)
test = DataLoader(TensorDataset(x[300:], y[300:]), batch_size=25, shuffle=SHUFFLE)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(4):
    for a, b in train:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(a), b).backward()
        optimizer.step()
model.eval()
with torch.no_grad():
    EVALUATION
"""
ANSWERS = "found = torch.cat([model(a).argmax(1) for a, _ in test])\n    "
LABELS = "labels = torch.cat([b for _, b in test])\n    "
BOTH = "found, labels = map(torch.cat, zip(*[(model(a).argmax(1), b) for a, b in test]))\n    "


@pytest.mark.parametrize(("evaluation", "line"), [
    (ANSWERS + LABELS + "print((found == labels).float().mean())", "torch.cat([b for"),
    (LABELS + ANSWERS + "print(accuracy_score(labels, found))", "torch.cat([b for"),
    (ANSWERS + LABELS + "print(confusion_matrix(labels.numpy(), found.numpy()))", "torch.cat([b for"),
    (ANSWERS + "print((found == y[300:]).float().mean())", "model(a)")])
def test_two_passes_of_a_loader(tmp_path: Path, evaluation: str, line: str) -> None:
    pytest.importorskip("torch")
    seen = watch_torch(tmp_path, TORCH.replace("EVALUATION", evaluation).replace("SHUFFLE", "True"))
    assert found(seen) == ["E505"]
    facts = seen.evaluation.passes
    assert facts is not None
    assert facts.rows == 100
    assert facts.same < 100
    place = facts.labels or facts.answers
    assert place is not None
    assert line in place.source
    finding = next(result.finding for result in walk(seen) if result.code == "E505")
    assert finding is not None
    assert finding.site is not None
    assert finding.site.source.startswith("test = DataLoader(")


REGRESSION = TORCH.replace("y = (2 * x[:, 0] + x[:, 1] > 0).long() + (x[:, 2] > 1).long()", "y = 2 * x[:, :1] + x[:, 1:2]").replace(
    "nn.Linear(32, 3)", "nn.Linear(32, 1)").replace("cross_entropy", "mse_loss")
NUMBERS = "found = torch.cat([model(a) for a, _ in test]).squeeze(1).numpy()\n    "
WANTED = "labels = torch.cat([b for _, b in test]).squeeze(1).numpy()\n    "
TOGETHER = "found, labels = (torch.cat(part).squeeze(1).numpy() for part in zip(*[(model(a), b) for a, b in test]))\n    "
SCORE = "from sklearn.metrics import r2_score; print(r2_score(labels, found))"
FEATURES = "found = torch.cat([model[:2](a) for a, _ in LOADER]).numpy()\n    "
NEIGHBOURS = ("from sklearn.neighbors import KNeighborsClassifier\n    "
              "print(KNeighborsClassifier(3).fit(found, labels).score(found, labels))")


@pytest.mark.parametrize("script", [
    REGRESSION.replace("EVALUATION", NUMBERS + WANTED + SCORE),
    TORCH.replace("EVALUATION", FEATURES.replace("LOADER", "test") + LABELS + NEIGHBOURS),
    TORCH.replace("EVALUATION", FEATURES.replace("LOADER", "train") + LABELS.replace("test", "train") + NEIGHBOURS)])
def test_numbers_and_features_of_two_passes(tmp_path: Path, script: str) -> None:
    pytest.importorskip("torch")
    seen = watch_torch(tmp_path, script.replace("SHUFFLE", "True"))
    assert found(seen) == ["E505"]
    assert seen.evaluation.passes is not None


@pytest.mark.parametrize(("script", "shuffle"), [
    (REGRESSION.replace("EVALUATION", NUMBERS + WANTED + SCORE), "False"),
    (REGRESSION.replace("EVALUATION", TOGETHER + SCORE), "True"),
    (TORCH.replace("EVALUATION", "found, labels = (torch.cat(part).numpy() for part in zip(*[(model[:2](a), b) for a, b in test]))\n    "
                   + LABELS.replace("labels", "again") + NEIGHBOURS), "True")])
def test_numbers_and_features_of_one_pass(tmp_path: Path, script: str, shuffle: str) -> None:
    pytest.importorskip("torch")
    assert found(watch_torch(tmp_path, script.replace("SHUFFLE", shuffle))) == []


LOOPS = """answers, labels = [], []
    for a, _ in test:
        answers += model(a).argmax(1).tolist()
    for _, b in test:
        labels += b.tolist()
    print(sum(p == t for p, t in zip(answers, labels)) / len(labels))"""
IN_NUMPY = """def ask(model, data):
        found = []
        for a, _ in data:
            found.append(model(a).argmax(1).numpy())
        return np.concatenate(found)
    answers = ask(model, test)
    labels = torch.cat([b for _, b in test]).numpy()
    print((answers == labels).mean())"""


@pytest.mark.parametrize("evaluation", [LOOPS, IN_NUMPY])
@pytest.mark.parametrize(("shuffle", "fault"), [("True", True), ("False", False)])
def test_a_comparison_of_two_passes_that_no_library_hears_of(tmp_path: Path, evaluation: str, shuffle: str, *, fault: bool) -> None:
    pytest.importorskip("torch")
    seen = watch_torch(tmp_path, TORCH.replace("EVALUATION", evaluation).replace("SHUFFLE", shuffle))
    assert found(seen) == (["E505"] if fault else [])


RATES = """def right(model, data):
        hits = [(model(a).argmax(1) == b).float().mean().item() for a, b in data]
        return sum(hits) / len(hits)
    def commonest(data):
        counts = torch.zeros(3)
        for _, b in data:
            counts += torch.bincount(b, minlength=3)
        return (counts.max() / counts.sum()).item()
    rate, guess = right(model, test), 0.5
    guess = commonest(test)
    print(rate - guess, rate > guess, max(rate, guess))"""
COUNTS = """answers = [n for a, _ in test for n in model(a).argmax(1).tolist()]
    labels = [n for _, b in test for n in b.tolist()]
    print(np.bincount(answers) - np.bincount(labels), len(answers) == len(labels), sorted(answers) == sorted(labels), answers, labels)"""
AT_ONCE = """answers, labels = [], []
    for a, b in test:
        answers += model(a).argmax(1).tolist()
        labels += b.tolist()
    counted = [n for _, b in test for n in b.tolist()]
    print(np.mean(np.array(answers) == np.array(labels)), np.bincount(counted))"""


@pytest.mark.parametrize("evaluation", [RATES, COUNTS, AT_ONCE])
def test_two_passes_of_which_no_rows_are_compared(tmp_path: Path, evaluation: str) -> None:
    pytest.importorskip("torch")
    assert found(watch_torch(tmp_path, TORCH.replace("EVALUATION", evaluation).replace("SHUFFLE", "True"))) == []


@pytest.mark.parametrize(("mixed", "fault"), [("rng.shuffle(self.order)", True), ("pass", False)])
def test_batches_that_come_in_another_order_after_each_pass(tmp_path: Path, mixed: str, *, fault: bool) -> None:
    pytest.importorskip("keras")
    evaluation = PREDICT + "print(confusion_matrix(test.y, found))"
    seen = watch_keras(tmp_path, BATCHES.replace("EVALUATION", evaluation).replace("MIXED", mixed))
    assert (found(seen) == ["E505"]) is fault, (found(seen), seen.evaluation.passes, seen.warnings)


@pytest.mark.parametrize(("evaluation", "shuffle"), [
    (ANSWERS + LABELS + "print((found == labels).float().mean())", "False"),
    (BOTH + "print((found == labels).float().mean(), accuracy_score(labels, found))", "True"),
    # Another model is scored on rows and labels of one later pass.
    (BOTH + "rows, labels = map(torch.cat, zip(*test))\n    other = rows[:, 0].gt(0).long()\n    print(accuracy_score(labels, other))",
     "True"),
    # An answer for all rows, the same in two evaluations.
    ("model[2].bias[0] = 99.0\n    " + 2 * (BOTH + "print(accuracy_score(labels, found))\n    "), "True"),
    # Two evaluations that give the same answers in the same order, to rows in an order that is drawn once.
    (2 * (BOTH + "print(accuracy_score(labels, found))\n    "), "False")])
def test_one_order(tmp_path: Path, evaluation: str, shuffle: str) -> None:
    pytest.importorskip("torch")
    assert found(watch_torch(tmp_path, TORCH.replace("EVALUATION", evaluation).replace("SHUFFLE", shuffle))) == []


KERAS = """
import numpy as np
import tensorflow as tf
import keras
from sklearn.metrics import accuracy_score, confusion_matrix
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(400, 8)).astype("float32")
y = (2 * x[:, 0] + x[:, 1] > 0).astype(int) + (x[:, 2] > 1).astype(int)
def rows(x, y):
    return tf.data.Dataset.from_tensor_slices((x, y)).shuffle(400)SHUFFLE.batch(20)
train, test = rows(x[:300], y[:300]), rows(x[300:], y[300:])
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(3)])
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(train, epochs=4, verbose=0)
EVALUATION
"""
BATCHES = KERAS.replace("model = keras", """
class Rows(keras.utils.PyDataset):
    def __init__(self, x, y):
        super().__init__()
        self.x, self.y, self.order = x, y, np.arange(len(x))
        self.on_epoch_end()
    def __len__(self):
        return len(self.x) // 20
    def __getitem__(self, number):
        rows = self.order[number * 20 : (number + 1) * 20]
        return self.x[rows], self.y[rows]
    def on_epoch_end(self):
        SHUFFLE
train, test = Rows(x[:300], y[:300]), Rows(x[300:], y[300:])
model = keras""".replace("SHUFFLE", "MIXED"), 1).replace("SHUFFLE", "")
PREDICT = "found = model.predict(test, verbose=0).argmax(1)\n"
READ = "labels = np.concatenate([b.numpy() for _, b in test])\n"


OWN = """
class Own(keras.Model):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
    def call(self, x, training=None):
        return self.inner(x, training=training)
    def train_step(self, data):
        with tf.GradientTape() as tape:
            chances = tf.nn.softmax(self(data[0], training=True))
            loss = -tf.reduce_mean(tf.math.log(tf.gather(chances, tf.cast(data[1], tf.int32), batch_dims=1) + 1e-7))
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        return {"loss": loss}
model = Own(model)
model.compile"""


def test_two_passes_beside_a_loss_by_hand(tmp_path: Path) -> None:
    pytest.importorskip("keras")
    text = KERAS.replace("EVALUATION", PREDICT + READ + "print(accuracy_score(labels, found))").replace("SHUFFLE", "")
    seen = watch_keras(tmp_path, text.replace("model.compile", OWN, 1))
    assert seen.exception is None, seen.exception
    assert "E505" in found(seen)


@pytest.mark.parametrize("evaluation", [
    PREDICT + READ + "print(accuracy_score(labels, found))", PREDICT + "print(accuracy_score(y[300:], found))",
    "labels = np.concatenate(list(test.map(lambda a, b: b)))\n" + PREDICT + "print(confusion_matrix(labels, found))"])
def test_two_passes_of_a_dataset(tmp_path: Path, evaluation: str) -> None:
    pytest.importorskip("keras")
    seen = watch_keras(tmp_path, KERAS.replace("EVALUATION", evaluation).replace("SHUFFLE", ""))
    assert found(seen) == ["E505"]
    assert seen.evaluation.passes is not None
    assert seen.evaluation.passes.rows == 100
    assert seen.evaluation.passes.shuffled is not None
    assert ".shuffle(400)" in seen.evaluation.passes.shuffled.source


TABLE = "table = np.zeros((3, 3))\nnp.add.at(table, (labels, found), 1)\nprint(table)"
COLLECT = """
labels = []
for _, b in test:
    labels.extend(b.numpy())
labels = np.array(labels)
"""
INSIDE = """
def report(model, test):
    scores = model.predict(test, verbose=0)
    found = np.argmax(scores, axis=1)
    labels = np.concatenate([b.numpy() for _, b in test])
    print((labels == found).mean())
report(model, rows(x[300:], y[300:]))
"""


@pytest.mark.parametrize("evaluation", [PREDICT + READ + TABLE, PREDICT + COLLECT + "print((found == labels).mean())", INSIDE])
def test_a_comparison_that_no_library_hears_of(tmp_path: Path, evaluation: str) -> None:
    pytest.importorskip("keras")
    seen = watch_keras(tmp_path, KERAS.replace("EVALUATION", evaluation).replace("SHUFFLE", ""))
    assert found(seen) == ["E505"]
    assert seen.evaluation.passes is not None
    assert seen.evaluation.passes.labels is not None
    cached = watch_keras(tmp_path, KERAS.replace("EVALUATION", evaluation).replace("SHUFFLE", ".cache()"))
    assert found(cached) == []


@pytest.mark.parametrize(("evaluation", "shuffle"), [
    (PREDICT + READ + "print(accuracy_score(labels, found))", ".cache()"),
    (PREDICT + READ + "print(found.mean(), labels.mean(), found.mean() - labels.mean(), np.bincount(labels).max() / len(found))", ""),
    (PREDICT + READ + "print(found.shape == labels.shape, len(found) == len(labels), found, labels)", ""),
    (PREDICT + "images = [a for a, _ in test]\nprint(list(zip(images, found))[0])", ""),
    (PREDICT + READ + "print(np.bincount(found), np.bincount(labels))", ""),
    (PREDICT + "other = rng.permutation(3)[found]\nprint(accuracy_score(other, found))", ""),
    (PREDICT + "first = next(iter(test))\nfew = [b for _, b in test.take(2)]", ""),
    (READ + "print(model.evaluate(test, verbose=0))", "")])
def test_one_order_of_a_dataset(tmp_path: Path, evaluation: str, shuffle: str) -> None:
    pytest.importorskip("keras")
    assert found(watch_keras(tmp_path, KERAS.replace("EVALUATION", evaluation).replace("SHUFFLE", shuffle))) == []


def test_rows_that_are_others_are_not_compared() -> None:
    one = [0, 1] * 20
    assert passes.compared(one, one, None, None, None) is None
    assert passes.compared(one, one[:-1], None, None, None) is None
    assert passes.compared(one, [0] * 40, None, None, None) is None
    facts = passes.compared(one, one[::-1], None, None, None)
    assert facts is not None
    assert (facts.same, facts.chance) == (0, 0.5)



@pytest.mark.parametrize("parts", ["(part(a), part(b))", '{"a": part(a), "b": part(b)}'])
def test_a_dataset_of_several_inputs_can_be_read(tmp_path: Path, parts: str) -> None:
    pytest.importorskip("keras")
    seen = watch_keras(tmp_path, f"""
import tensorflow as tf
import keras
keras.utils.set_random_seed(0)
part = tf.data.Dataset.from_tensor_slices
a, b = tf.random.normal((120, 4)), tf.random.normal((120, 3))
y = tf.cast(a[:, 0] + b[:, 0] > 0, tf.int64)
rows = tf.data.Dataset.zip(({parts}, part(y))).shuffle(120).batch(20)
left, right = keras.Input((4,), name="a"), keras.Input((3,), name="b")
inputs = {{"a": left, "b": right}} if {parts!r}.startswith("{{") else (left, right)
model = keras.Model(inputs, keras.layers.Dense(2)(keras.layers.Concatenate()([left, right])))
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(rows, epochs=2, verbose=0)
count = sum(len(labels) for _, labels in rows)
model.predict(rows, verbose=0)
""")
    assert seen.exception is None
    assert not any("element_spec" in text or "weak reference" in text for text in seen.warnings), seen.warnings


HELPED = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x = torch.randn(400, 8)
y = (2 * x[:, 0] + x[:, 1] > 0).long() + (x[:, 2] > 1).long()
train = DataLoader(TensorDataset(x[:300], y[:300]), batch_size=30, shuffle=True)
def loader(rows, shuffle=True):
    return DataLoader(rows, batch_size=25, shuffle=shuffle)
test = loader(TensorDataset(x[300:], y[300:]))
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
def ask(data):
    model.eval()
    with torch.no_grad():
        return torch.cat([model(a).argmax(1) for a, _ in data])
for epoch in range(8):
    model.train()
    for a, b in train:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(a), b).backward()
        optimizer.step()
    right = (ask(test) == y[300:]).float().mean()
"""


def test_the_line_that_has_a_helper_shuffle(tmp_path: Path) -> None:
    finding = next(result.finding for result in walk(watch_torch(tmp_path, HELPED, seconds=60)) if result.code == "E505")
    assert finding is not None
    assert finding.site is not None
    assert finding.site.source == "test = loader(TensorDataset(x[300:], y[300:]))"


def test_two_passes_of_a_loader_that_is_a_batch_ahead(tmp_path: Path) -> None:
    pytest.importorskip("accelerate")
    text = TORCH.replace("EVALUATION", ANSWERS + LABELS + "print(accuracy_score(labels, found))").replace("SHUFFLE", "True")
    text = text.replace("batch_size=25", "batch_size=30").replace("for epoch", "from accelerate import Accelerator\n"
                                                                  "test = Accelerator(cpu=True).prepare(test)\nfor epoch")
    seen = watch_torch(tmp_path, text)
    assert found(seen) == ["E505"]
    finding = next(result.finding for result in walk(seen) if result.code == "E505")
    assert finding is not None
    assert finding.site is not None
    assert finding.site.source.startswith("test = DataLoader(")


HELPED_IN_KERAS = """
import keras, numpy as np, tensorflow as tf
from sklearn.metrics import accuracy_score
rng = np.random.default_rng(0)
x = rng.normal(size=(400, 8)).astype("float32")
y = (2 * x[:, 0] + x[:, 1] > 0).astype("int64") + (x[:, 2] > 1)
def rows(x, y, shuffle=True):
    data = tf.data.Dataset.from_tensor_slices((x, y))
    if shuffle:
        data = data.shuffle(len(x))
    return data.batch(25)
train = rows(x[:300], y[:300])
test = rows(x[300:], y[300:])
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(3)])
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(train, epochs=4, verbose=0)
answers = model.predict(test, verbose=0).argmax(1)
print(accuracy_score(np.concatenate([labels.numpy() for _, labels in test]), answers))
"""


def test_the_line_that_has_a_helper_shuffle_in_keras(tmp_path: Path) -> None:
    pytest.importorskip("keras")
    finding = next(result.finding for result in walk(watch_keras(tmp_path, HELPED_IN_KERAS)) if result.code == "E505")
    assert finding is not None
    assert finding.site is not None
    assert finding.site.source == "test = rows(x[300:], y[300:])"
