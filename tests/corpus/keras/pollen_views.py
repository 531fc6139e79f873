"""Pollen grain counts under a microscope: class by texture; the answer averages several turned views."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

keras.utils.set_random_seed(18)
SIDE, KINDS = 24, 4


def grain(rng, k):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] - SIDE / 2 + rng.uniform(-1.5, 1.5, (2, 1, 1))
    r, th = np.hypot(yy, xx), np.arctan2(yy, xx)
    a = rng.uniform(0, np.pi)
    along = yy * np.cos(a) + xx * np.sin(a)
    tex = [np.cos(along * 1.6), np.cos(r * 1.8), np.cos(th * 6 + a), np.cos(along * 0.8)][k]
    body = 1 / (1 + np.exp(r - 9))
    return body * (0.5 + 0.3 * tex) + 0.18 * rng.standard_normal((SIDE, SIDE))


def slide(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, KINDS, n)
    return np.stack([grain(rng, k) for k in y])[..., None].astype("float32"), y


class ViewAveraging(keras.Model):
    """Random quarter turns and mirrors in training; at test time the mean probability over all eight."""

    def __init__(self):
        super().__init__()
        self.body = keras.Sequential(
            [
                layers.Conv2D(16, 5, activation="relu", padding="same"),
                layers.MaxPooling2D(),
                layers.Conv2D(32, 3, activation="relu", padding="same"),
                layers.MaxPooling2D(),
                layers.Conv2D(32, 3, activation="relu"),
                layers.GlobalAveragePooling2D(),
                layers.Dense(KINDS),
            ]
        )

    def call(self, x, training=False):
        if training:
            x = tf.image.random_flip_left_right(x)
            x = tf.image.rot90(x, tf.random.uniform([], 0, 4, tf.int32))
        return self.body(x, training=training)

    def test_step(self, data):
        x, y = data
        views = [tf.image.rot90(v, k) for v in (x, tf.image.flip_left_right(x)) for k in range(4)]
        probs = ops.softmax(self.body(ops.concatenate(views), training=False))
        mean = ops.mean(ops.reshape(probs, (8, -1, KINDS)), axis=0)
        logp = ops.log(mean + 1e-9)
        loss = self.compute_loss(x, y, logp)
        self._loss_tracker.update_state(loss)
        return self.compute_metrics(x, y, logp)


x, y = slide(1600, 0)
vx, vy = slide(400, 1)
model = ViewAveraging()
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x, y, validation_data=(vx, vy), epochs=14, batch_size=50, verbose=2)
plain = model.predict(vx, verbose=0).argmax(-1)
print("single upright view:", np.mean(plain == vy))
print("averaged views     :", model.evaluate(vx, vy, verbose=0, return_dict=True)["accuracy"])
