"""Mean and spread of a noisy signal: a custom loop with a Gaussian likelihood."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers, ops

keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)


def sample(n):
    x = rng.uniform(-3, 3, (n, 1)).astype("float32")
    spread = 0.01 + 0.04 * (x > 0) * x
    y = 0.3 * np.sin(2 * x) + spread * rng.normal(size=x.shape)
    return x, y.astype("float32")


x_train, y_train = sample(4000)
x_test, y_test = sample(1000)

inputs = keras.Input((1,))
h = layers.Dense(64, activation="tanh")(inputs)
h = layers.Dense(64, activation="tanh")(h)
mu = layers.Dense(1)(h)
log_sigma = layers.Dense(1)(h)
model = keras.Model(inputs, [mu, log_sigma])

MICRO, EVERY = 32, 4
optimizer = keras.optimizers.Adam(3e-3, clipnorm=1.0)
store = [tf.Variable(tf.zeros_like(w), trainable=False) for w in model.trainable_variables]
data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(4000).batch(MICRO, drop_remainder=True)


def nll(y, mu, log_sigma):
    return ops.mean(log_sigma + 0.5 * ops.square((y - mu) * ops.exp(-log_sigma)))


@tf.function
def micro_step(x, y):
    with tf.GradientTape() as tape:
        loss = nll(y, *model(x, training=True)) / EVERY
    for s, g in zip(store, tape.gradient(loss, model.trainable_variables)):
        s.assign_add(g)
    return loss * EVERY


@tf.function
def update():
    optimizer.apply_gradients([(s.value(), w) for s, w in zip(store, model.trainable_variables)])
    for s in store:
        s.assign(tf.zeros_like(s))


count = 0
for epoch in range(40):
    losses = []
    for x, y in data:
        losses.append(micro_step(x, y))
        count += 1
        if count % EVERY == 0:
            update()
    if epoch % 5 == 4:
        m, s = model(x_test, training=False)
        print(f"epoch {epoch + 1:3d}  train nll {np.mean(losses):7.3f}  test nll {float(nll(y_test, m, s)):7.3f}")

m, s = (ops.convert_to_numpy(t) for t in model(x_test, training=False))
for low, high in [(-3, 0), (0, 1.5), (1.5, 3)]:
    part = (x_test > low) & (x_test <= high)
    print(f"x in ({low}, {high}]: predicted sigma {np.exp(s[part]).mean():.4f}, "
          f"observed {np.abs(y_test - m)[part].mean() * np.sqrt(np.pi / 2):.4f}")
