"""Streams that several readers read: in parts, or whole each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks import test_watch_keras as small
from tests.frameworks.watching import HEAD, LOOP, found, watch

KERAS = ("keras", "tf_keras")
STREAM = """
from torch.utils.data import IterableDataset, get_worker_info
class Stream(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        ROWS
        for row in rows:
            yield X[row], y[row]
train = DataLoader(Stream(), batch_size=16, num_workers=WORKERS)
"""
READERS = small.HEAD + """
def read(reader):
    ROWS
    for row in rows:
        yield x[row], y[row]
def reader(number):
    kind = tf.TensorSpec((10,), tf.float32), tf.TensorSpec((), y.dtype)
    return tf.data.Dataset.from_generator(read, args=(number,), output_signature=kind)
rows = tf.data.Dataset.range(READERS).interleave(reader, cycle_length=READERS, block_length=4).shuffle(100).batch(32)
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(rows, epochs=2, verbose=0)
"""


@pytest.mark.parametrize(("rows", "workers", "fault"), [
    ("rows = range(320)", 2, True), ("rows = range(320)", 1, False), ("rows = range(info.id, 320, info.num_workers)", 2, False),
    ("rows = torch.randint(320, (400,)).tolist()", 2, False)])
def test_workers(tmp_path: Path, rows: str, workers: int, *, fault: bool) -> None:
    seen = watch(tmp_path, HEAD + STREAM.replace("ROWS", rows).replace("WORKERS", str(workers)) + LOOP)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert found(seen) == (["D118"] if fault else [])
    if fault:
        facts = seen.loaders[0].readers
        assert facts is not None
        assert facts.site is not None
        assert facts.site.source == "for row in rows:"


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("rows", "readers", "fault"), [
    ("rows = range(len(x))", 4, True), ("rows = range(len(x))", 1, False), ("rows = range(int(reader), len(x), 4)", 4, False),
    ("rows = np.random.randint(len(x), size=400).tolist()", 4, False)])
def test_interleaved(tmp_path: Path, name: str, rows: str, readers: int, *, fault: bool) -> None:
    text = READERS.replace("NAME", name).replace("ROWS", rows).replace("READERS", str(readers))
    seen = small.watch(tmp_path, text)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("D118" in found(seen)) == fault
