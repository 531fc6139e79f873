"""Calls that a script makes itself: which are heard, what is told by them, and that the script notices nothing."""

from __future__ import annotations

import ast
import builtins
from pathlib import Path

import pytest

from harness.frameworks.watch import own_calls
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import HEAD, LOOP, found, watch

IOU, NMS = "def box_iou(a, b): ...\n", "def nms(a, b): ...\n"


@pytest.mark.parametrize(("text", "times"), [
    ("y = np.clip(y, 0, 4)", 1), ("y = mask.long().clamp(0, 4)", 1), ("y = np.where(y == 255, 0, y)", 1), (IOU + "x = box_iou(a, b)", 1),
    ("x = box_iou(a, b)", 0), (NMS + "keep = nms(*boxes, limit=0.3)", 1), ("x = torchvision.ops.nms(a, b)", 0),
    ("def clip(x): ...\nclip(y)", 0), ("def curiously(a): ...\ncuriously(1)", 0), ("import numba\ny = np.clip(y, 0, 4)", 0)])
def test_what_is_marked(text: str, times: int) -> None:
    tree = ast.parse(text)
    own_calls.mark(tree, text)
    compile(tree, "train.py", "exec")
    assert ast.unparse(tree).count(own_calls.NAME) == times


def test_what_the_script_notices(tmp_path: Path) -> None:
    """Values, keywords, errors and their lines are as they were; and nothing is left behind."""
    text = HEAD + """
import numpy as np
def nms(boxes, scores, *, limit=0.5):
    raise LookupError("none")
def iou(box, function=max):
    return function(box)
assert iou([1, 2], function=min) == 1
assert np.clip(np.arange(5), a_min=1, a_max=3).tolist() == [1, 1, 2, 3, 3]
assert torch.arange(5).clamp(max=2).tolist() == [0, 1, 2, 2, 2]
nms(np.zeros((3, 4)), np.zeros(3), limit=0.1)
"""
    seen = watch(tmp_path, text)
    assert seen.exception is not None
    assert (seen.exception.type, seen.exception.site.source) == ("LookupError", 'raise LookupError("none")')
    assert not any("/own_calls.py" in file for file, *_ in seen.exception.frames)
    assert getattr(builtins, own_calls.NAME) is own_calls._called


MASKS = """
import numpy as np
Y = torch.randint(0, 3, (320, 6)); Y[:, 0] = FILLER
class Places(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(10, 18)
    def forward(self, x):
        return self.a(x).view(-1, 3, 6)
model = Places()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
target = TARGET
for epoch in range(2):
    for xb, yb in DataLoader(TensorDataset(X[:320], target), batch_size=32, shuffle=True):
        loss = LOSS
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
MEAN = "F.cross_entropy(model(xb), yb, ignore_index=255)"


@pytest.mark.parametrize(("filler", "target", "loss", "merged"), [
    ("255", "Y.clamp(0, 2)", MEAN, True), ("255", "torch.where(Y == 255, 0, Y)", MEAN, True), ("-1", "Y.clamp(min=0)", MEAN, True),
    ("255", "torch.from_numpy(np.where(Y.numpy() == 255, 0, Y.numpy()))", MEAN, True), ("255", "Y.masked_fill(Y == 255, 1)", MEAN, True),
    ("255", "Y.clamp(max=255)", MEAN, False), ("2", "Y.clamp(0, 2)", MEAN, False),
    ("3", "Y.clamp(0, 2)", MEAN, False),  # the next one after the last: three and more, perhaps
    ("255", "Y.clamp(0, 2)", "(F.cross_entropy(model(xb), yb, reduction='none') * (yb < 2)).mean()", False)])
def test_fillers_made_classes(tmp_path: Path, filler: str, target: str, loss: str, *, merged: bool) -> None:
    text = HEAD + MASKS.replace("FILLER", filler).replace("TARGET", target).replace("LOSS", loss)
    seen = watch(tmp_path, text, probe_seconds=0.0)
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert ("D123" in found(seen)) is merged


@pytest.mark.parametrize(("labels", "target", "merged"), [
    ("rng.integers(1, 4, 480)", "np.clip(raw, 0, 2)", True), ("rng.integers(0, 3, 480)", "np.clip(raw, 0, 2)", False),
    ("rng.integers(0, 6, 480)", "np.clip(raw, 0, 2)", False), ("rng.integers(1, 4, 480)", "raw - 1", False),
    ("rng.choice([-1, 1], 480)", "np.where(raw == -1, 0, raw)", False)])
def test_labels_numbered_from_one(tmp_path: Path, labels: str, target: str, *, merged: bool) -> None:
    pytest.importorskip("keras")
    text = test_watch_keras.HEAD.replace("NAME", "keras") + f"""
rng = np.random.default_rng(0)
raw = {labels}
y = {target}
x = rng.normal(size=(480, 6)).astype("float32") + y[:, None]
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3)])
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, epochs=2, verbose=0)
"""
    assert ("D123" in found(watch(tmp_path, text, probe_seconds=0.0))) is merged


WEIGHED = test_watch_keras.HEAD.replace("NAME", "keras") + """
rng = np.random.default_rng(0)
mask = rng.integers(0, 3, (320, 6)); mask[:, 0] = 255
x, known = rng.normal(size=(320, 6, 4)).astype("float32"), (mask != 255).astype("float32")
y = np.where(mask == 255, 0, mask)
model = keras.Sequential([keras.Input((6, 4)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3)])
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(keras.optimizers.Adam(1e-2), loss_fn)
TRAINED
"""
TAPE = """
for start in range(0, 320, 32):
    part = slice(start, start + 32)
    with tf.GradientTape() as tape:
        loss = loss_fn(y[part], model(x[part], training=True)WEIGHTS)
    model.optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""


@pytest.mark.parametrize(("trained", "merged"), [
    ("model.fit(x, y, verbose=0)", True), ("model.fit(x, y, sample_weight=known, verbose=0)", False),
    (TAPE.replace("WEIGHTS", ""), True), (TAPE.replace("WEIGHTS", ", sample_weight=known[part]"), False)])
def test_fillers_that_weights_leave_out(tmp_path: Path, trained: str, *, merged: bool) -> None:
    pytest.importorskip("keras")
    seen = watch(tmp_path, WEIGHED.replace("TRAINED", trained), probe_seconds=0.0)
    assert ("D123" in found(seen)) is merged


BOXES = HEAD + LOOP + """
import numpy as np
rng = np.random.default_rng(1)
corner, size = rng.uniform(0, 0.7, (60, 2)), rng.uniform(0.05, 0.3, (60, 2))
CORNERS, SIZED, CENTRED = (np.concatenate(parts, 1).astype("float32") for parts in (
    (corner, corner + size), (corner, size), (corner + size / 2, size)))
def corners(a):
    return a
def sized(a):
    return np.concatenate([a[..., :2], a[..., :2] + a[..., 2:]], -1)
def centred(a):
    return np.concatenate([a[..., :2] - a[..., 2:] / 2, a[..., :2] + a[..., 2:] / 2], -1)
def iou(a, b):
    a, b = READ(a), READ(b)
    both = np.prod(np.clip(np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2]), 0, None), -1)
    return both / (np.prod(a[..., 2:] - a[..., :2], -1) + np.prod(b[..., 2:] - b[..., :2], -1) - both)
ASKED
"""
ROWS, PAIRS, SINGLE = "iou(B, B[::-1])", "iou(B[:, None][:, 0], B)", "for box in B:\n    iou(box, B[0])"


@pytest.mark.parametrize(("read", "given", "asked", "misread"), [
    ("corners", "CORNERS", ROWS, False), ("corners", "SIZED", ROWS, True), ("corners", "CENTRED", SINGLE, True),
    ("sized", "SIZED", ROWS, False), ("sized", "CORNERS", PAIRS, True), ("centred", "CENTRED", ROWS, False),
    ("centred", "CORNERS", ROWS, True), ("corners", "CORNERS", SINGLE, False), ("corners", "SIZED[:8]", ROWS, False)])
def test_forms_of_boxes(tmp_path: Path, read: str, given: str, asked: str, *, misread: bool) -> None:
    text = BOXES.replace("READ", read).replace("ASKED", asked.replace("B", given))
    seen = watch(tmp_path, text, probe_seconds=0.0)
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert [facts.form for facts in seen.boxes] == [read]
    assert ("D124" in found(seen)) is misread


SUPPRESSING = HEAD + LOOP + """
def nms(boxes, scores, limit=0.3):
    order, keep = ORDER, []
    while len(order):
        best, order = order[0], order[1:]
        keep.append(int(best))
        order = order[(boxes[order] - boxes[best]).abs().amax(1) > limit]
    return RETURNED
torch.manual_seed(3)
for _ in range(6):
    middles = torch.randn(3, 2).repeat(8, 1) * 5 + torch.randn(24, 2) * 0.1
    nms(torch.cat([middles, middles + 1], 1), torch.rand(24))
"""


@pytest.mark.parametrize("returned", ["keep", "torch.tensor(keep)", "boxes[keep], scores[keep]",
                                      "torch.zeros(len(boxes), dtype=torch.bool).index_fill(0, torch.tensor(keep), True)"])
@pytest.mark.parametrize(("order", "weakest"), [("scores.argsort()", True), ("scores.argsort(descending=True)", False)])
def test_suppressions(tmp_path: Path, order: str, returned: str, *, weakest: bool) -> None:
    text = SUPPRESSING.replace("ORDER", order).replace("RETURNED", returned)
    seen = watch(tmp_path, text, probe_seconds=0.0)
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert [facts.calls for facts in seen.suppressions] == [6]
    assert ("E530" in found(seen)) is weakest
    assert not weakest or seen.suppressions[0].site.line == text.splitlines().index(f"    order, keep = {order}, []") + 1
