"""Scores that a script takes of each batch by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.frameworks.watch import own_scores
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import HEAD, found, watch

LOOP = """
import numpy as np
from sklearn.metrics import accuracy_score, f1_score, r2_score, roc_auc_score
rare = (X[:, 0] + X[:, 1] > 1.6).long()
train, test = TensorDataset(X[:320], rare[:320]), TensorDataset(X, rare)
for epoch in range(3):
    model.train()
    for xb, yb in DataLoader(train, batch_size=16, shuffle=True):
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    scores, answers, references = [], [], []
    with torch.no_grad():
        for xb, yb in DataLoader(test, batch_size=SIZE):
            out = model(xb)
            EACH
    print(np.mean(scores), END)
"""
GATHERED = "answers.append(out.argmax(1)); references.append(yb)"


@pytest.mark.parametrize(("each", "end", "size", "wrong"), [
    ("scores.append(f1_score(yb, out.argmax(1), zero_division=0))", "epoch", 16, True),
    ("scores.append(f1_score(y_true=yb.numpy(), y_pred=out.argmax(1).numpy(), zero_division=0))", "epoch", 16, True),
    ("scores.append(accuracy_score(yb, out.argmax(1)))", "epoch", 16, False),
    ("scores.append(f1_score(yb, out.argmax(1), zero_division=0))", "epoch", 200, False),  # two batches
    (GATHERED, "f1_score(torch.cat(references), torch.cat(answers))", 16, False),
    (GATHERED, "[f1_score(part, other) for part, other in zip(references, answers)]", 16, False)])  # after the model is done
def test_in_pytorch(tmp_path: Path, each: str, end: str, size: int, *, wrong: bool) -> None:
    text = HEAD + LOOP.replace("EACH", each).replace("END", end).replace("SIZE", str(size))
    seen = watch(tmp_path, text, steps=60, probe_seconds=0.0)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("E531" in found(seen)) is wrong, seen.evaluation.batch_scores
    if wrong:
        told = seen.evaluation.batch_scores
        assert told is not None
        assert (told.calls, told.rows) == (25, 400)
        assert told.site is not None
        assert "f1_score(" in told.site.source


def test_groups_of_several_sizes(tmp_path: Path) -> None:
    each = "scores += [f1_score(yb[:n], out[:n].argmax(1), zero_division=0) for n in (5, 16, 9)]"
    text = HEAD + LOOP.replace("EACH", each).replace("END", "epoch").replace("SIZE", "16")
    assert watch(tmp_path, text, steps=60, probe_seconds=0.0).evaluation.batch_scores is None


def test_in_keras(tmp_path: Path) -> None:
    text = test_watch_keras.HEAD.replace("NAME", "keras") + """
from sklearn.metrics import r2_score
target = (x[:, 0] + 0.8 * np.random.randn(640)).astype("float32")
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(0.01)
for epoch in range(2):
    for start in range(0, 480, 32):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x[start:start + 32], training=True)[:, 0] - target[start:start + 32]) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    scores = [r2_score(target[start:start + 8], model(x[start:start + 8], training=False)[:, 0].numpy()) for start in range(480, 640, 8)]
    print(np.mean(scores))
"""
    seen = test_watch_keras.watch(tmp_path, text, probe_seconds=0.0)
    told = seen.evaluation.batch_scores
    assert told is not None
    assert (told.name, told.calls, told.rows) == ("r2_score", 20, 160)
    assert "E531" in found(seen)


OWN = '''
def by_kind(truth, guess):
    table = np.zeros((2, 2))
    np.add.at(table, (truth.numpy(), guess.argmax(1).numpy()), 1)
    return 2 * np.diag(table) / np.maximum(table.sum(0) + table.sum(1), 1)

def macro_f1(truth, guess):
    return by_kind(truth, guess).mean()

def figures(truth, guess):
    return {"accuracy": float((guess.argmax(1) == truth).float().mean()), "f1": by_kind(truth, guess)[1]}

def precision_of_pairs(one, other):
    return float((one @ other.T).argmax(1).eq(torch.arange(len(one))).float().mean())

METERS = {"macro": macro_f1}
'''


@pytest.mark.parametrize(("each", "told", "line"), [
    ("scores.append(macro_f1(yb, out))", "macro_f1", "scores.append("),
    ("scores += [meter(yb, out) for meter in METERS.values()]", "macro_f1", "METERS ="),
    ("scores.append(figures(yb, out)['f1'])", "f1", "scores.append("),
    ("scores.append(precision_of_pairs(out, out))", None, ""),  # no references
    ("scores.append((out.argmax(1) == yb).float().mean())", None, ""),
    ("answers.append(out); references.append(yb)", None, "")])
def test_a_scripts_own(tmp_path: Path, each: str, told: str | None, line: str) -> None:
    """By whatever name it is called; it is led back to where it is handed on."""
    end = "macro_f1(torch.cat(references), torch.cat(answers)) if references else epoch"
    text = HEAD + OWN + LOOP.replace("EACH", each).replace("END", end).replace("SIZE", "16")
    seen = watch(tmp_path, text, steps=60, probe_seconds=0.0)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("E531" in found(seen)) is (told is not None), seen.evaluation.batch_scores
    if told is not None:
        facts = seen.evaluation.batch_scores
        assert facts is not None
        assert facts.name == told
        assert (facts.calls, facts.rows) == (25, 400)
        assert facts.site is not None
        assert line in facts.site.source


def test_rivals_in_a_batch(tmp_path: Path) -> None:
    """What rows of a batch are to each other is no ratio of counts: of twice the rows it is another."""
    own = """
def recall_in_batch(truth, scores):
    return float((torch.cdist(scores, scores).argmin(1) == torch.arange(len(truth))).float().mean())
"""
    text = HEAD + own + LOOP.replace("EACH", "scores.append(recall_in_batch(yb, out))").replace("END", "epoch").replace("SIZE", "16")
    assert watch(tmp_path, text, steps=60, probe_seconds=0.0).evaluation.batch_scores is None


@pytest.mark.parametrize(("name", "is_one"), [
    ("macro_f1", True), ("F1", True), ("balanced_accuracy", True), ("recall_at_5", False), ("recall@5", False), ("precision_k", False),
    ("accuracy", False), ("mean_ap", False), ("profile", False)])
def test_names_of_scores(name: str, *, is_one: bool) -> None:
    assert own_scores.is_score(name) is is_one
