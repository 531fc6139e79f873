"""Cobblestone matching: scan and photo of the same stone are brought together by a symmetric in-batch contrastive loss."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import math

import numpy as np
import keras
import tensorflow as tf
from keras import layers, ops

B, STEPS, DIM = 256, 350, 24
keras.utils.set_random_seed(6)
rng = np.random.default_rng(6)
MIX_SCAN, MIX_PHOTO = rng.normal(size=(10, 40)), rng.normal(size=(10, 24))


def stones(n):
    s = rng.normal(size=(n, 10))
    scan = np.tanh(s @ MIX_SCAN / 3) + rng.normal(0, 0.15, (n, 40))
    photo = np.sin(s @ MIX_PHOTO / 2) + rng.normal(0, 0.15, (n, 24))
    return scan.astype("float32"), photo.astype("float32")


class UnitNorm(layers.Layer):
    def call(self, x):
        return x / (ops.norm(x, axis=-1, keepdims=True) + 1e-6)


class TwoEyes(keras.Model):
    def __init__(self):
        super().__init__()
        def tower(name):
            return keras.Sequential([layers.Dense(96, activation="gelu"), layers.Dense(96, activation="gelu"),
                                     layers.Dense(DIM), UnitNorm()], name=name)
        self.scan_tower, self.photo_tower = tower("scan"), tower("photo")
        self.log_scale = self.add_weight(name="log_scale", shape=(), initializer=keras.initializers.Constant(math.log(1 / 0.07)))

    def call(self, pair):
        return self.scan_tower(pair[0]), self.photo_tower(pair[1])

    def loss_of(self, pair):
        a, b = self(pair)
        logits = ops.exp(self.log_scale) * a @ ops.transpose(b)
        row = ops.arange(logits.shape[0])
        ab = keras.losses.sparse_categorical_crossentropy(row, logits, from_logits=True)
        ba = keras.losses.sparse_categorical_crossentropy(row, ops.transpose(logits), from_logits=True)
        return ops.mean(ab + ba)


class WarmupLinear(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warmup, total):
        self.peak, self.warmup, self.total = peak, warmup, total

    def __call__(self, step):
        step = ops.cast(step, "float32")
        return self.peak * ops.minimum(step / self.warmup, (self.total - step) / (self.total - self.warmup))


def recall_at_1(model, pair):
    a, b = model(pair)
    return float(ops.mean(ops.cast(ops.argmax(a @ ops.transpose(b), axis=1) == ops.arange(len(a)), "float32")))


train, test = stones(6000), stones(500)
model = TwoEyes()
model((train[0][:2], train[1][:2]))
opt = keras.optimizers.Lion(WarmupLinear(1e-3, 40, STEPS), weight_decay=1e-2)
opt.build(model.trainable_variables)


@tf.function
def step(scan, photo):
    with tf.GradientTape() as tape:
        loss = model.loss_of((scan, photo))
    opt.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
    return loss


print(f"recall@1 among 500 before training {recall_at_1(model, test):.3f}")
ds = tf.data.Dataset.from_tensor_slices(train).shuffle(6000).repeat().batch(B, drop_remainder=True).take(STEPS)
for i, (scan, photo) in enumerate(ds):
    loss = step(scan, photo)
    if i % 70 == 0:
        print(f"step {i:3d}  loss {float(loss):.3f}  scale {float(ops.exp(model.log_scale)):.1f}")
print(f"recall@1 among 500 after training {recall_at_1(model, test):.3f}")
