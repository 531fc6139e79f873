"""Texture tiles with mixup inside train_step and averaged weights (use_ema) in Keras 3."""
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(6)
EPOCHS = 10
KINDS = ["stripes", "checks", "dots", "rings", "waves"]


def tile(kind, rng, n=24):
    yy, xx = np.mgrid[:n, :n].astype("float32")
    a = rng.uniform(0, np.pi)
    u, v = xx * np.cos(a) + yy * np.sin(a), -xx * np.sin(a) + yy * np.cos(a)
    f, ph = rng.uniform(0.9, 1.5), rng.uniform(0, 6.28)
    if kind == "stripes":
        img = np.sin(f * u + ph)
    elif kind == "checks":
        img = np.sign(np.sin(f * u + ph) * np.sin(f * v + ph))
    elif kind == "dots":
        img = np.where(np.sin(f * u + ph) + np.sin(f * v) > 1.0, 1.0, -1.0)
    elif kind == "rings":
        cx, cy = rng.uniform(4, n - 4, 2)
        img = np.sin(f * np.hypot(xx - cx, yy - cy) + ph)
    else:
        img = np.sin(f * u + 2.5 * np.sin(0.6 * v + ph))
    return img * rng.uniform(0.6, 1.0) + rng.normal(0, 0.25, (n, n))


def make(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(KINDS), n)
    x = np.stack([tile(KINDS[c], rng) for c in y]).astype("float32")[..., None]
    return x, keras.utils.to_categorical(y, len(KINDS)).astype("float32")


class MixupModel(keras.Model):
    alpha = 0.3

    def train_step(self, data):
        x, y = data
        g1 = tf.random.gamma([tf.shape(x)[0], 1], self.alpha)
        g2 = tf.random.gamma([tf.shape(x)[0], 1], self.alpha)
        lam = g1 / (g1 + g2 + 1e-8)
        lam = tf.maximum(lam, 1.0 - lam)
        order = tf.random.shuffle(tf.range(tf.shape(x)[0]))
        x_mix = lam[:, :, None, None] * x + (1.0 - lam[:, :, None, None]) * tf.gather(x, order)
        y_mix = lam * y + (1.0 - lam) * tf.gather(y, order)
        with tf.GradientTape() as tape:
            p = self(x_mix, training=True)
            loss = self.compute_loss(x=x_mix, y=y_mix, y_pred=p)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        for m in self.metrics:
            if m.name == "loss":
                m.update_state(loss)
            else:
                m.update_state(y_mix, p)
        return {m.name: m.result() for m in self.metrics}


def build():
    inp = keras.Input((24, 24, 1))
    h = layers.RandomFlip("horizontal_and_vertical")(inp)
    for filters in (16, 24, 32):
        h = layers.Conv2D(filters, 3, padding="same", use_bias=False)(h)
        h = layers.GroupNormalization(8)(h)
        h = layers.Activation("swish")(h)
        h = layers.MaxPooling2D()(h)
    h = layers.Concatenate()([layers.GlobalAveragePooling2D()(h), layers.GlobalMaxPooling2D()(h)])
    return MixupModel(inp, layers.Dense(len(KINDS))(h))


x, y = make(1200, 0)
xv, yv = make(200, 1)
xt, yt = make(400, 2)
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1200).batch(32, drop_remainder=True)

model = build()
model.compile(
    optimizer=keras.optimizers.AdamW(
        keras.optimizers.schedules.CosineDecay(1e-5, decay_steps=EPOCHS * len(ds) - 20, alpha=0.02,
                                               warmup_target=6e-3, warmup_steps=20),
        weight_decay=1e-4, use_ema=True, ema_momentum=0.95),
    loss=keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.05),
    metrics=["accuracy"],
)
model.fit(ds, epochs=EPOCHS, verbose=2, validation_data=(xv, yv),
          callbacks=[keras.callbacks.SwapEMAWeights(swap_on_epoch=False)])

os.makedirs("out", exist_ok=True)
model.save_weights("out/texture.weights.h5")
_, acc = model.evaluate(xt, yt, verbose=0)
print(f"test accuracy {acc:.3f} with averaged weights (majority {yt.mean(0).max():.3f})")
