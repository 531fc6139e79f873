# Each row is one turnstile shift: people in (+1), out (-1), nobody (0), plus a noisy
# temperature. The model says how many people are inside at the end of the shift.
import numpy as np
import tensorflow as tf
import keras

tf.random.set_seed(12)
keras.utils.set_random_seed(12)
rng = np.random.default_rng(12)

STEPS, BATCH, UNITS = 15, 64, 32


def shifts(n):
    ev = rng.choice([-1, 0, 1], size=(n, STEPS), p=[0.35, 0.3, 0.35])
    temp = rng.normal(size=(n, STEPS))
    x = np.stack([ev == 1, ev == -1, temp], axis=-1).astype("float32")
    return x, ev.sum(1).astype("float32")


x_train, y_train = shifts(4800)
x_test, y_test = shifts(640)

gru = keras.layers.GRU(UNITS, return_state=True)
read = keras.layers.Dense(1)
opt = keras.optimizers.Adam(3e-3)
gru(x_train[:BATCH])
read(tf.zeros((1, UNITS)))
params = gru.trainable_variables + read.trainable_variables


@tf.function
def forward(x, state):
    out, state = gru(x, initial_state=state)
    return read(out)[:, 0], state


@tf.function
def update(x, y, state):
    with tf.GradientTape() as tape:
        pred, state = forward(x, state)
        loss = tf.reduce_mean(tf.square(pred - y))
    opt.apply_gradients(zip(tape.gradient(loss, params), params))
    return loss, state


def batches(x, y, shuffle):
    idx = rng.permutation(len(x)) if shuffle else np.arange(len(x))
    for i in range(0, len(x), BATCH):
        j = idx[i:i + BATCH]
        yield x[j], y[j]


for epoch in range(12):
    total = 0.0
    state = tf.zeros((BATCH, UNITS))
    for xb, yb in batches(x_train, y_train, True):
        loss, state = update(xb, yb, state)
        total += float(loss)
    sq = []
    for xb, yb in batches(x_test, y_test, False):
        pred, _ = forward(xb, tf.zeros((BATCH, UNITS)))
        sq.append(np.mean((pred.numpy() - yb) ** 2))
    if epoch % 2 == 1:
        print(f"epoch {epoch:2d} train mse {total / (len(x_train) // BATCH):.3f} test mse {np.mean(sq):.3f}")
print("variance of target", round(float(y_test.var()), 2))
