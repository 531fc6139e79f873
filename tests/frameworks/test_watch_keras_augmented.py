"""Pictures and masks that a mapped function moves at random: by one draw, or by one for each."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found

SCRIPT = test_watch_keras.HEAD + """
import numpy as np, tensorflow as tf
rng = np.random.default_rng(0)
image, mask = rng.normal(0.5, 0.1, (96, 16, 16, 3)).astype("float32"), np.zeros((96, 16, 16, 1), "float32")
for row in range(96):
    r, c = rng.integers(1, 9, 2)
    image[row, r:r + 6, c:c + 4] += 0.4
    mask[row, r:r + 6, c:c + 4] = 1
def augment(image, mask):
    BODY
rows = tf.data.Dataset.from_tensor_slices((image, mask)).shuffle(96).map(augment).batch(16)
model = keras.Sequential([keras.Input((16, 16, 3)), keras.layers.Conv2D(8, 3, padding="same", activation="relu"),
                          keras.layers.Conv2D(1, 3, padding="same")])
model.compile(keras.optimizers.Adam(1e-2), keras.losses.BinaryCrossentropy(from_logits=True))
model.fit(rows, epochs=2, verbose=0)
"""
APART = """image = tf.image.random_brightness(tf.image.random_flip_left_right(image), 0.1)
    return image, tf.image.random_flip_left_right(mask)"""
TOGETHER = """both = tf.image.random_flip_left_right(tf.concat([image, mask], -1))
    return tf.image.random_brightness(both[..., :3], 0.1), both[..., 3:]"""
SEEDED = """seed = tf.random.uniform((2,), 0, 1000, tf.int32)
    return tf.image.stateless_random_flip_left_right(image, seed), tf.image.stateless_random_flip_left_right(mask, seed)"""


@pytest.mark.parametrize(("body", "fault"), [(APART, True), (TOGETHER, False), (SEEDED, False), ("return image, mask", False)])
def test_motions(tmp_path: Path, body: str, *, fault: bool) -> None:
    text = SCRIPT.replace("BODY", body).replace("NAME", "keras")
    seen = test_watch_keras.watch(tmp_path, text)
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("D106" in found(seen)) == fault, seen.augmentation
    if fault:
        told = next(result.finding for result in walk(seen) if result.code == "D106")
        assert told is not None
        assert told.site is not None
        assert told.site.source == body.splitlines()[0]
