import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

MICRO, ACCUM = 8, 8


def tiles(n, seed):
    """24x24 texture tiles: stripes at four angles."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    yy, xx = np.mgrid[:24, :24]
    ang = y * np.pi / 4 + rng.normal(0, 0.17, n)
    per = rng.uniform(4, 7, n)
    ph = rng.uniform(0, 6.28, n)
    u = np.cos(ang)[:, None, None] * xx + np.sin(ang)[:, None, None] * yy
    img = np.sin(2 * np.pi * u / per[:, None, None] + ph[:, None, None])
    return (img + rng.normal(0, 1.4, img.shape))[..., None].astype("float32"), y.astype("int32")


class Accumulator:
    def __init__(self, model, optimizer, every):
        self.model, self.optimizer, self.every = model, optimizer, every
        self.store = [tf.Variable(tf.zeros_like(v.value), trainable=False) for v in model.trainable_variables]
        self.loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def micro(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss(y, self.model(x, training=True)) / self.every
        for s, g in zip(self.store, tape.gradient(loss, self.model.trainable_variables)):
            s.assign_add(g)
        return loss * self.every

    @tf.function
    def apply(self):
        self.optimizer.apply_gradients(zip(self.store, self.model.trainable_variables))
        for s in self.store:
            s.assign(tf.zeros_like(s))


keras.utils.set_random_seed(30)
x, y = tiles(3200, 0)
xt, yt = tiles(600, 1)
model = keras.Sequential([
    keras.Input((24, 24, 1)),
    layers.Conv2D(16, 5, activation="relu"),
    layers.MaxPooling2D(),
    layers.GroupNormalization(4),
    layers.Conv2D(32, 3, activation="relu"),
    layers.GlobalAveragePooling2D(),
    layers.Dense(4),
])
opt = keras.optimizers.Adam(5e-3)
opt.build(model.trainable_variables)
acc = Accumulator(model, opt, ACCUM)
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(3200, seed=30).batch(MICRO, drop_remainder=True)
for epoch in range(8):
    total = []
    for i, (xb, yb) in enumerate(ds, start=1):
        total.append(acc.micro(xb, yb))
        if i % ACCUM == 0:
            acc.apply()
    pred = model.predict(xt, verbose=0).argmax(1)
    print(f"epoch {epoch}: loss {np.mean([float(t) for t in total]):.4f} test acc {np.mean(pred == yt):.3f}")
