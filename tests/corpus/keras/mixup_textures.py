"""Texture classification with mixup, label smoothing and warm restarts."""
import math

import numpy as np
import tensorflow as tf
import keras
from keras import layers

K = 5
S = 24
EPOCHS = 14
BATCH = 50
keras.utils.set_random_seed(33)


def textures(n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[:S, :S]
    y = rng.integers(0, K, n)
    out = []
    for k in y:
        f, p = rng.uniform(0.7, 1.3), rng.uniform(0, 6.28)
        if k == 0:
            im = np.sin(f * xx + p)
        elif k == 1:
            im = np.sin(f * yy + p)
        elif k == 2:
            im = np.sign(np.sin(f * xx + p) * np.sin(f * yy + p))
        elif k == 3:
            im = np.sin(f * np.hypot(xx - rng.uniform(6, 18), yy - rng.uniform(6, 18)) + p)
        else:
            im = np.sin(f * (xx + yy) / 1.4 + p)
        out.append(im + rng.normal(0, 0.8, im.shape))
    return np.asarray(out, np.float32)[..., None], y


def mix(x, y):
    a, b = tf.random.gamma([], 0.4), tf.random.gamma([], 0.4)
    lam = a / (a + b + 1e-6)
    # one coefficient per batch, partners by rolling the (already shuffled) batch by one
    return lam * x + (1 - lam) * tf.roll(x, 1, 0), lam * y + (1 - lam) * tf.roll(y, 1, 0)


class Snapshots(keras.callbacks.Callback):
    """Keeps the weights at the end of every cosine cycle (lr is near zero there)."""

    def __init__(self, ends):
        super().__init__()
        self.ends, self.saved = ends, []

    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch + 1:2d} train loss {logs['loss']:.3f} acc {logs['accuracy']:.3f} | "
              f"val loss {logs['val_loss']:.3f} acc {logs['val_accuracy']:.3f}")
        if epoch + 1 in self.ends:
            self.saved.append(self.model.get_weights())


x, y = textures(1000, 0)
xv, yv = textures(300, 1)
xt, yt = textures(500, 2)
onehot = keras.utils.to_categorical

ds = (tf.data.Dataset.from_tensor_slices((x, onehot(y, K).astype("float32")))
      .shuffle(1000).batch(BATCH, drop_remainder=True).map(mix).prefetch(2))

model = keras.Sequential([
    keras.Input((S, S, 1)),
    layers.GaussianNoise(0.1),
    layers.Conv2D(16, 5, strides=2, padding="same"), layers.GroupNormalization(4), layers.Activation("silu"),
    layers.Conv2D(32, 3, strides=2, padding="same"), layers.GroupNormalization(8), layers.Activation("silu"),
    layers.Conv2D(32, 3, padding="same", activation="silu"),
    layers.GlobalAveragePooling2D(),
    layers.Dense(K),
])
steps = len(ds)
schedule = keras.optimizers.schedules.CosineDecayRestarts(4e-3, first_decay_steps=2 * steps, t_mul=2.0, m_mul=0.9)
model.compile(
    keras.optimizers.AdamW(schedule, weight_decay=0.02),
    keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1),
    metrics=["accuracy"],
)
snaps = Snapshots(ends=(6, 14))
model.fit(ds, epochs=EPOCHS, validation_data=(xv, onehot(yv, K)), callbacks=[snaps], verbose=0)

probs = 0
for w in snaps.saved:
    model.set_weights(w)
    probs = probs + tf.nn.softmax(model.predict(xt, verbose=0)).numpy()
acc = (probs.argmax(1) == yt).mean()
floor = -(0.92 * math.log(0.92) + 4 * 0.02 * math.log(0.02))
print(f"snapshot-ensemble test accuracy {acc:.3f} (chance {1 / K:.2f}); lowest smoothed loss {floor:.3f}")
