import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import time

import numpy as np
import tensorflow as tf
import keras
from keras import layers

CLASSES = 5
LENGTH = 96
BASE_LR = 6e-3
WARMUP = 10
TOTAL = 70


def vibration(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, CLASSES, n)
    t = np.linspace(0, 1, LENGTH)[None]
    freq = (4 + 5 * y)[:, None] + rng.uniform(-1, 1, (n, 1))
    phase = rng.uniform(0, 2 * np.pi, (n, 1))
    x = np.sin(2 * np.pi * freq * t + phase) + rng.normal(0, 0.6, (n, LENGTH))
    return x[..., None].astype("float32"), y.astype("int32")


def make_model():
    inp = keras.Input((LENGTH, 1))
    x = inp
    for width in (24, 32):
        x = layers.Conv1D(width, 7, padding="same", activation="relu")(x)
        x = layers.MaxPooling1D(3)(x)
    x = layers.GlobalAveragePooling1D()(x)
    return keras.Model(inp, layers.Dense(CLASSES)(x))


keras.utils.set_random_seed(13)
model = make_model()
optimizer = keras.optimizers.Adam(BASE_LR)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer.build(model.trainable_variables)


@tf.function
def train_step(x, y, step):
    ramp = tf.minimum(1.0, (tf.cast(step, tf.float32) + 1.0) / WARMUP)
    decay = 0.5 * (1.0 + tf.cos(np.pi * tf.cast(step, tf.float32) / TOTAL))
    optimizer.learning_rate.assign(BASE_LR * ramp * decay)
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = loss_fn(y, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


x_train, y_train = vibration(3000, 0)
x_test, y_test = vibration(600, 1)
ds = (tf.data.Dataset.from_tensor_slices((x_train, y_train))
      .shuffle(3000, seed=1).repeat().batch(64))

start = time.time()
for step, (xb, yb) in enumerate(ds.take(TOTAL)):
    loss = train_step(xb, yb, tf.constant(step))
    if step % 20 == 0:
        print(f"step {step:4d}  loss {float(loss):.4f}  {time.time() - start:6.1f}s")

took = time.time() - start
logits = model.predict(x_test, batch_size=200, verbose=0)
print(f"test accuracy {(logits.argmax(1) == y_test).mean():.3f}")
print(f"{TOTAL / took:.1f} steps per second")
