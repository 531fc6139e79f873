"""Kernel-machine approximation on crowd-sourced labels (about 3 in 10 are wrong)."""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import make_moons

keras.utils.set_random_seed(17)
rng = np.random.default_rng(17)
x, y_true = make_moons(8000, noise=0.12, random_state=17)
x = x.astype("float32")
y = np.where(rng.random(len(x)) < 0.3, 1 - y_true, y_true).astype("float32")[:, None]
n_train = 6000


class RandomFourier(keras.layers.Layer):
    def __init__(self, dim, scale=2.0):
        super().__init__()
        self.w = tf.Variable(tf.random.normal((2, dim)) * scale, trainable=False)
        self.b = tf.Variable(tf.random.uniform((dim,), 0, 2 * np.pi), trainable=False)

    def call(self, inputs):
        return np.sqrt(2 / self.w.shape[1]) * tf.cos(inputs @ self.w + self.b)


model = keras.Sequential([RandomFourier(256), keras.layers.Dense(1)])
model.build((None, 2))
print("trainable:", model.count_params(), "weights")

MICRO, ACCUM = 50, 8
train_ds = tf.data.Dataset.from_tensor_slices((x[:n_train], y[:n_train])).shuffle(n_train).batch(MICRO)
val_ds = tf.data.Dataset.from_tensor_slices((x[n_train:], y_true[n_train:])).shuffle(2000).batch(500)
optimizer = keras.optimizers.SGD(keras.optimizers.schedules.CosineDecay(4.0, 300))
bce = keras.losses.BinaryCrossentropy(from_logits=True, reduction="sum")
total = [tf.Variable(tf.zeros_like(v)) for v in model.trainable_variables]


@tf.function
def micro_step(xb, yb):
    with tf.GradientTape() as tape:
        loss = bce(yb, model(xb, training=True))
    for acc, g in zip(total, tape.gradient(loss, model.trainable_variables)):
        acc.assign_add(g / (MICRO * ACCUM))
    return loss / MICRO


for epoch in range(20):
    losses = []
    for step, (xb, yb) in enumerate(train_ds, 1):
        losses.append(float(micro_step(xb, yb)))
        if step % ACCUM == 0:
            optimizer.apply_gradients([(tf.identity(a), v) for a, v in zip(total, model.trainable_variables)])
            for a in total:
                a.assign(tf.zeros_like(a))
    if epoch % 3 == 1:
        hits = [((model(xb).numpy()[:, 0] > 0) == yb.numpy()).mean() for xb, yb in val_ds]
        print(f"epoch {epoch + 1:2d}  loss {np.mean(losses):.4f}  accuracy on checked labels {np.mean(hits):.3f}")
