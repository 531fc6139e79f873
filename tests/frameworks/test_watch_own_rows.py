"""Evaluations of nothing but training rows, and masks of TensorFlow that are the wrong way round."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import FAILED, Finding, walk
from harness.checks.observation import Observation
from tests.frameworks import test_watch_keras as small
from tests.frameworks.watching import HEAD, watch


def found(seen: Observation, code: str) -> Finding | None:
    results = walk(seen)
    assert not [result for result in results if (result.reason or "").startswith(FAILED)]
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    return next((result.finding for result in results if result.code == code), None)


TORCH = HEAD + """
x_train, x_val, y_train, y_val = X[:300], X[300:], y[:300], y[300:]
train = DataLoader(TensorDataset(x_train, y_train), batch_size=20, shuffle=True)
print(len(test))
held = DataLoader(TensorDataset(ROWS), batch_size=50)
for epoch in range(3):
    model.train()
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(sum(int((model(xb).argmax(1) == yb).sum()) for xb, yb in held))
"""


@pytest.mark.parametrize(("rows", "rest", "fault"), [
    ("x_train, y_train", "", True), ("x_val, y_val", "", False),
    ("x_train, y_train", "print(len(x_val), len(y_val))\n", False)])  # how well the training rows are known is a question of its own
def test_rows_that_are_set_aside_and_never_used(tmp_path: Path, rows: str, rest: str, *, fault: bool) -> None:
    finding = found(watch(tmp_path, TORCH.replace("ROWS", rows) + rest, steps=60), "E510")
    assert (finding is not None) is fault


TRAINER = """
import tempfile, torch, torch.nn as nn
from transformers import Trainer, TrainingArguments
torch.manual_seed(0)
class Rows(torch.utils.data.Dataset):
    def __init__(self, x):
        self.x = x
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        return {"x": self.x[i], "labels": int(self.x[i, 0] > 0)}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 2)
    def forward(self, x, labels=None):
        logits = self.fc(x)
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}
x = torch.randn(400, 8)
train_rows = Rows(x[:300])
valid_rows = Rows(x[300:])
args = TrainingArguments(tempfile.mkdtemp(), num_train_epochs=2, eval_strategy="epoch", save_strategy="no", report_to=[], use_cpu=True)
trainer = Trainer(model=Net(), args=args, train_dataset=train_rows,
                  eval_dataset=ROWS)
trainer.train()
"""


@pytest.mark.parametrize(("rows", "fault"), [("train_rows", True), ("valid_rows", False)])
def test_a_trainer_that_is_given_one_dataset_twice(tmp_path: Path, rows: str, *, fault: bool) -> None:
    text = TRAINER.replace("ROWS", rows)
    finding = found(watch(tmp_path, text, steps=200), "E510")
    assert (finding is not None) is fault
    if finding is not None:
        assert finding.site is not None
        assert finding.site.line in (1 + text[:text.index(part)].count("\n") for part in ("trainer = Trainer", "eval_dataset=train_rows"))


FIT = """
import numpy as np, keras
keras.utils.set_random_seed(0)
ids = np.random.default_rng(0).integers(1, 200, (700, 16))
label = (ids[:, 0] > 100).astype("int64")
x_train, x_test, y_train, y_test = ids[:500], ids[500:], label[:500], label[500:]
model = keras.Sequential([keras.layers.Embedding(200, 8), keras.layers.Flatten(), keras.layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x_train, y_train, validation_data=ROWS, batch_size=50, epochs=3, verbose=0)
"""


@pytest.mark.parametrize(("rows", "fault"), [("(x_train, y_train)", True), ("(x_test, y_test)", False)])
def test_rows_of_ids_in_fit(tmp_path: Path, rows: str, *, fault: bool) -> None:
    pytest.importorskip("keras")
    finding = found(small.watch(tmp_path, FIT.replace("ROWS", rows)), "E510")
    assert (finding is not None) is fault


MASKS = """
import numpy as np, tensorflow as tf, tf_keras
from transformers import BertConfig, TFBertForSequenceClassification
tf_keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
ids = rng.integers(1, 60, (320, 12))
for row, length in zip(ids, rng.integers(4, 12, 320)):
    row[length:] = 0
y = (ids[:, 0] > 30).astype("int64")
model = TFBertForSequenceClassification(BertConfig(vocab_size=60, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                                                   intermediate_size=16, num_labels=2))
optimizer = tf_keras.optimizers.Adam(1e-3)
for at in range(0, 320, 16):
    given = tf.constant(ids[at:at + 16])
    with tf.GradientTape() as tape:
        mask = tf.cast(given MARK 0, tf.int32)
        loss = tf.reduce_mean(model(given, attention_mask=mask, labels=tf.constant(y[at:at + 16]), training=True).loss)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""


@pytest.mark.parametrize("mark", ["==", "!="])
def test_masks_the_wrong_way_round(tmp_path: Path, mark: str) -> None:
    transformers = pytest.importorskip("transformers")
    if not hasattr(transformers, "TFBertForSequenceClassification"):
        pytest.skip("transformers 5 has no models for TensorFlow")
    finding = found(small.watch(tmp_path, MASKS.replace("MARK", mark)), "B102")
    assert (finding is not None) == (mark == "==")
