import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

SIZE, BOOST = 32, 60.0


def sky(n, rng):
    yy, xx = np.mgrid[:SIZE, :SIZE]
    img = rng.normal(0, 0.25, (n, SIZE, SIZE)).astype("float32")
    mark = np.zeros((n, SIZE, SIZE), "float32")
    usable = np.ones((n, SIZE, SIZE), "float32")
    for k in range(n):
        for _ in range(rng.integers(1, 4)):
            r, c = rng.integers(3, SIZE - 3, 2)
            img[k] += rng.uniform(0.9, 1.6) * np.exp(-((yy - r) ** 2 + (xx - c) ** 2) / 3.0)
            mark[k, r, c] = 1
        dead = rng.integers(0, SIZE)                       # a dead column carries no information
        img[k, :, dead] = 0
        usable[k, :, dead] = 0
    return img[..., None], np.stack([mark, usable], -1)


def spot_loss(y_true, y_pred):
    mark, usable = y_true[..., 0], y_true[..., 1]
    ce = tf.nn.weighted_cross_entropy_with_logits(mark, y_pred[..., 0], pos_weight=BOOST)
    return tf.reduce_sum(ce * usable, axis=[1, 2]) / tf.reduce_sum(usable, axis=[1, 2])


class SpotNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.body = [layers.Conv2D(12, 5, padding="same", activation="relu"),
                     layers.Conv2D(16, 3, padding="same", activation="relu")]
        self.out = layers.Conv2D(1, 3, padding="same", bias_initializer=keras.initializers.Constant(-4.0))

    def call(self, x):
        for layer in self.body:
            x = layer(x)
        return self.out(x)


def found(model, x, y):
    heat = model.predict(x, verbose=0)[..., 0]
    peak = tf.nn.max_pool2d(heat[..., None], 5, 1, "SAME").numpy()[..., 0] == heat
    peak &= heat > 2.0
    near = tf.nn.max_pool2d(y[..., :1], 3, 1, "SAME").numpy()[..., 0] > 0
    near_peak = tf.nn.max_pool2d(peak[..., None].astype("float32"), 3, 1, "SAME").numpy()[..., 0] > 0
    real = (y[..., 0] * y[..., 1]) > 0
    return (peak & near).sum() / max(peak.sum(), 1), (near_peak & real).sum() / real.sum()


def schedule(epoch):
    return 4e-3 if epoch < 4 else 4e-3 * 0.6 ** (epoch - 3)


rng = np.random.default_rng(27)
keras.utils.set_random_seed(27)
x, y = sky(900, rng)
xv, yv = sky(200, rng)
model = SpotNet()
model.compile(keras.optimizers.Adam(), spot_loss)
model.fit(x, y, batch_size=30, epochs=9, verbose=2, validation_data=(xv, yv),
          callbacks=[keras.callbacks.LearningRateScheduler(schedule)])
p, r = found(model, xv, yv)
print(f"precision {p:.3f} recall {r:.3f}")
