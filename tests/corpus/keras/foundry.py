import math
import resource
import time

import numpy as np
import tensorflow as tf
import keras
from sklearn.datasets import make_friedman1
from sklearn.metrics import r2_score

keras.utils.set_random_seed(1)

x, y = make_friedman1(n_samples=3000, n_features=10, noise=0.5, random_state=1)
x = ((x - x.mean(0)) / x.std(0)).astype("float32")
y_mean, y_std = y[:2400].mean(), y[:2400].std()
y = ((y - y_mean) / y_std).astype("float32")[:, None]

train = tf.data.Dataset.from_tensor_slices((x[:2400], y[:2400])).shuffle(2400).batch(128, drop_remainder=True)

model = keras.Sequential([
    keras.Input((10,)),
    keras.layers.Dense(64, activation="swish"),
    keras.layers.Dense(64, activation="swish"),
    keras.layers.Dense(1),
])
optimizer = keras.optimizers.Adam()
optimizer.build(model.trainable_variables)

EPOCHS, PEAK = 8, 8e-3
total = EPOCHS * len(train)


def cosine(step):
    return 0.5 * PEAK * (1 + math.cos(math.pi * step / total))


@tf.function
def train_step(xb, yb, lr):
    with tf.GradientTape() as tape:
        pred = model(xb, training=True)
        loss = tf.reduce_mean(tf.square(pred - yb))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.learning_rate.assign(lr)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


step = 0
for epoch in range(EPOCHS):
    start, losses = time.time(), []
    for xb, yb in train:
        loss = train_step(xb, yb, cosine(step))
        losses.append(float(loss))
        step += 1
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"epoch {epoch + 1}  loss {np.mean(losses):.4f}  {time.time() - start:.1f} s  rss {rss:.0f} MB")

pred = model.predict(x[2400:], verbose=0)
print("test R2", round(r2_score(y[2400:], pred), 3))
