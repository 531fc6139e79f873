"""Denoising autoencoder for spectrogram patches."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)
BINS, FRAMES = 64, 48


def rss_mb():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096 / 2 ** 20


def patch_batch(n):
    f = np.arange(BINS)[None, :, None]
    t = np.arange(FRAMES)[None, None, :]
    base = rng.uniform(6, 14, (n, 1, 1))
    slope = rng.uniform(-0.1, 0.15, (n, 1, 1))
    clean = np.zeros((n, BINS, FRAMES))
    for k in range(1, 5):
        clean += (0.9 ** k) * np.exp(-0.5 * ((f - k * (base + slope * t)) / 1.2) ** 2)
    clean *= 0.6 + 0.4 * np.sin(t * rng.uniform(0.1, 0.5, (n, 1, 1)))
    noisy = clean + rng.normal(0, 0.4, clean.shape)
    return tf.constant(noisy[..., None], tf.float32), tf.constant(clean[..., None], tf.float32)


class Denoiser(keras.Model):
    def __init__(self):
        super().__init__()
        self.down = keras.Sequential([
            layers.Conv2D(12, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2D(24, 3, strides=2, padding="same", activation="relu"),
        ])
        self.up = keras.Sequential([
            layers.Conv2DTranspose(12, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2DTranspose(8, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2D(1, 3, padding="same"),
        ])

    def call(self, x):
        code = self.down(x)
        return self.up(code), code


model = Denoiser()
opt = keras.optimizers.Adam(3e-3)


@tf.function
def train_step(noisy, clean):
    with tf.GradientTape() as tape:
        out, code = model(noisy)
        loss = tf.reduce_mean(tf.square(out - clean))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return {"loss": loss, "out": out, "code": code}


pool = [patch_batch(64) for _ in range(20)]
val_noisy, val_clean = patch_batch(128)
history = []
for step in range(1, 701):
    result = train_step(*pool[step % len(pool)])
    history.append({"loss": float(result["loss"])})
    if step % 100 == 0:
        recent = np.mean([float(r["loss"]) for r in history[-100:]])
        activity = float(tf.reduce_mean(tf.cast(result["code"] > 0, tf.float32)))
        print(f"step {step:4d}  mse {recent:.4f}  active code {activity:.2f}  resident {rss_mb():.0f} MB")

val = float(tf.reduce_mean(tf.square(model(val_noisy)[0] - val_clean)))
print(f"val mse {val:.4f} (noisy input {float(tf.reduce_mean(tf.square(val_noisy - val_clean))):.4f})")
curve = np.array([float(r["loss"]) for r in history])
print("loss curve, every 100 steps:", np.round(curve[::100], 4))
