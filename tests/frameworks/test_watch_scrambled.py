"""Reshapes, with and without an exchange of axes."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.frameworks.watch.scrambled import scrambles
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import HEAD, found, watch

TORCH = HEAD + """
X = torch.randn(320, 6, 8)
y = (X[:, 0, 0] > 0).long()
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 2)
    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (SPLIT for part in self.qkv(x).split(8, dim=-1))
        x = F.scaled_dot_product_attention(q, k, v)
        return self.out((MERGE).mean(1))
model = Attention()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    for xb, yb in DataLoader(TensorDataset(X, y), batch_size=16, shuffle=True):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
"""
SPLIT, MERGE = "part.view(B, T, 2, 4).transpose(1, 2)", "x.transpose(1, 2).reshape(B, T, C)"


@pytest.mark.parametrize(("split", "merge", "how"), [
    (SPLIT, MERGE, None), (SPLIT, "x.reshape(B, T, C)", "merge"),
    ("part.reshape(B, 2, T, 4)", MERGE, "split"), ("part.contiguous().view(B, 2, -1, 4)", "x.permute(0, 2, 1, 3).flatten(2)", "split")])
def test_a_loop(tmp_path: Path, split: str, merge: str, how: str | None) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("SPLIT", split).replace("MERGE", merge), steps=20, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("F111" in found(seen)) is (how is not None), seen.scrambled
    if how is not None:
        assert seen.scrambled is not None
        assert seen.scrambled.how == how
        assert seen.scrambled.site is not None
        assert (merge if how == "merge" else split) in seen.scrambled.site.source


KERAS = """
import numpy as np, tensorflow as tf, NAME as keras
keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(320, 6, 8)).astype("float32")
y = (x[:, 0, 0] > 0).astype("int64")
class Attention(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (keras.layers.Dense(8) for _ in range(3))
    def call(self, x):
        q, k, v = (tf.transpose(tf.reshape(layer(x), (-1, 6, 2, 4)), (0, 2, 1, 3)) for layer in (self.q, self.k, self.v))
        x = tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / 2.0), v)
        return tf.reduce_mean(MERGE, axis=1)
inputs = keras.Input((6, 8))
model = keras.Model(inputs, keras.layers.Dense(2)(Attention()(inputs)))
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=32, epochs=2, verbose=0)
"""


@pytest.mark.parametrize("name", test_watch_keras.KERAS)
@pytest.mark.parametrize(("merge", "wrong"), [
    ("tf.reshape(x, (-1, 6, 8))", True), ("tf.reshape(tensor=x, shape=(-1, 6, 8))", True),
    ("tf.reshape(tf.transpose(x, (0, 2, 1, 3)), (-1, 6, 8))", False)])
def test_a_fit(tmp_path: Path, name: str, merge: str, *, wrong: bool) -> None:
    seen = test_watch_keras.watch(tmp_path, KERAS.replace("NAME", name).replace("MERGE", merge), steps=20, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("F111" in found(seen)) is wrong, seen.scrambled


@pytest.mark.parametrize(("before", "after", "how"), [
    ((8, 4, 24, 12), (8, 24, 48), "merge"), ((8, 24, 48), (8, 4, 24, 12), "split"), ((0, 4, 24, 12), (0, 24, 48), "merge"),
    ((8, 24, 4, 12), (8, 24, 48), None), ((8, 24, 48), (8, 24, 4, 12), None),  # with an exchange of axes before or after
    ((8, 24, 24, 12), (8, 24, 288), None),  # as many heads as steps: either may be meant
    ((8, 1, 24, 12), (8, 24, 12), None), ((8, 96, 8), (8, 4, 24, 8), None), ((32, 24, 12), (8, 4, 24, 12), None),
    ((8, 3, 32, 32), (8, 3, 1024), None), ((8, 3, 32, 32), (8, 3072), None),
    ((8, 6, 40), (8, 40, 6), "exchange"), ((0, 6, 40), (0, 40, 6), "exchange"), ((8, 32, 40, 3), (8, 3, 32, 40), "exchange"),
    ((8, 24, 6), (24, 8, 6), "exchange"), ((8, 6, 40), (8, 6, 40), None), ((8, 40, 1), (8, 1, 40), None), ((6, 40), (40, 6), None),
    ((2, 64, 16), (64, 32), "rows"), ((64, 2, 16), (64, 32), None), ((64, 2, 16), (2, 512), None), ((0, 64, 16), (64, 32), None)])
def test_shapes(before: tuple[int, ...], after: tuple[int, ...], how: str | None) -> None:
    assert scrambles(before, after) == how


EXCHANGED = """
import numpy as np, tensorflow as tf, NAME as keras
keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(320, 6, 8)).astype("float32")
y = (x[:, 0, 0] > 0).astype("int64")
model = keras.Sequential([
    keras.Input((6, 8)),
    MIDDLE,
    keras.layers.Conv1D(4, 3), keras.layers.Flatten(), keras.layers.Dense(2)])
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=32, epochs=2, verbose=0)
"""


@pytest.mark.parametrize("name", ["keras", "tf_keras"])
@pytest.mark.parametrize(("middle", "wrong"), [
    ("keras.layers.Reshape((8, 6))", True), ("keras.layers.Permute((2, 1))", False), ("keras.layers.Reshape((12, 4))", False)])
def test_a_layer(tmp_path: Path, name: str, middle: str, *, wrong: bool) -> None:
    pytest.importorskip(name)
    seen = test_watch_keras.watch(tmp_path, EXCHANGED.replace("NAME", name).replace("MIDDLE", middle), steps=20, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert ("F111" in found(seen)) is wrong, seen.scrambled
    if wrong:
        assert seen.scrambled is not None
        assert seen.scrambled.site is not None
        assert seen.scrambled.site.source == f"{middle},"


GROUPED = HEAD + """
X = torch.randn(320, 16, 4)
y = (X[:, 0, 0] > 0).long()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.read, self.out = nn.READ, nn.LazyLinear(2)
    def forward(self, x):
        B, T, C = x.shape
        fewer = T // 4
        return self.out(self.read(x.GROUP).mean(AXIS))
model = Net()
model(X[:2])
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    for xb, yb in DataLoader(TensorDataset(X, y), batch_size=16, shuffle=True):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("group", "wrong"), [
    ("reshape(B, T // 4, 4 * C)", False), ("reshape(B, fewer, -1)", False), ("reshape(B, 4, 16)", False), ("view(B, C, T)", True),
    ("reshape(x.size(0), x.size(2), x.size(1))", True), ("transpose(1, 2)", False)])
def test_steps_that_are_put_side_by_side(tmp_path: Path, group: str, *, wrong: bool) -> None:
    """16 steps of 4 numbers, four by four, are 4 steps of 16."""
    text = GROUPED.replace("GROUP", group).replace("READ", "LazyLinear(8)").replace("AXIS", "1")
    seen = watch(tmp_path, text, steps=20, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert ("F111" in found(seen)) is wrong, seen.scrambled


@pytest.mark.parametrize(("group", "wrong"), [
    ("reshape(B, 4, -1)", True), ("reshape(B, C, -1)", True), ("reshape(B, 4, 16).transpose(1, 2)", False), ("mT", False)])
def test_channels_come_second_where_a_convolution_reads_them(tmp_path: Path, group: str, *, wrong: bool) -> None:
    text = GROUPED.replace("GROUP", group).replace("READ", "LazyConv1d(8, 3)").replace("AXIS", "2")
    seen = watch(tmp_path, text, steps=20, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert ("F111" in found(seen)) is wrong, seen.scrambled


ARRAYS = """
import numpy as np
rng = np.random.default_rng(0)
x = rng.normal(size=(320, 6, 10)).astype("float32")
y = (x[:, 0].mean(1) > 0).astype("int64")
x = MADE
"""
ARRAYS_TORCH = HEAD + ARRAYS + """
X, y = torch.TAKEN(x), torch.tensor(y)
model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Flatten(), nn.Linear(80, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    for xb, yb in DataLoader(TensorDataset(X, y), batch_size=16, shuffle=True):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
"""
ARRAYS_KERAS = ARRAYS + """
import keras
import tensorflow as tf
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Flatten(), keras.layers.Dense(2)])
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(TAKEN, epochs=2, verbose=0)
"""
MADE = [("x.reshape(len(x), 10, 6)", True), ("np.reshape(x, (len(x), 10, 6))", True), ("x.transpose(0, 2, 1)", False),
        ("x.reshape(len(x), 60).reshape(-1, 6, 10).transpose(0, 2, 1)", False), ("x[:, ::-1].copy().transpose(0, 2, 1)", False)]


@pytest.mark.parametrize("taken", ["from_numpy", "tensor"])
@pytest.mark.parametrize(("made", "wrong"), MADE)
def test_an_array_that_torch_takes(tmp_path: Path, made: str, taken: str, *, wrong: bool) -> None:
    text = ARRAYS_TORCH.replace("MADE", made).replace("TAKEN", taken)
    seen = watch(tmp_path, text, steps=20, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert ("F111" in found(seen)) is wrong, seen.scrambled
    if wrong:
        assert seen.scrambled is not None
        assert seen.scrambled.site is not None
        assert seen.scrambled.site.source == f"x = {made}"


@pytest.mark.parametrize("taken", ["tf.data.Dataset.from_tensor_slices((x, y)).batch(16)", "x, y"])
@pytest.mark.parametrize(("made", "wrong"), MADE)
def test_an_array_that_keras_takes(tmp_path: Path, made: str, taken: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    text = ARRAYS_KERAS.replace("MADE", made).replace("TAKEN", taken)
    seen = test_watch_keras.watch(tmp_path, text, steps=20, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert ("F111" in found(seen)) is wrong, seen.scrambled
