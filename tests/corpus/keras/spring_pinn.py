"""Damped spring u'' + 0.4 u' + 4 u = 0, u(0)=1, u'(0)=0, solved by a network. No data."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(0)
C, K, T_END = 0.4, 4.0, 3.0

core = keras.Sequential([
    keras.Input((1,)),
    keras.layers.Dense(32, activation="tanh"),
    keras.layers.Dense(32, activation="tanh"),
    keras.layers.Dense(1),
])


def u(t):
    # initial conditions hold by construction
    return 1.0 + t ** 2 * core(t / T_END * 2 - 1)


schedule = keras.optimizers.schedules.ExponentialDecay(1e-2, 800, 0.5)
optimizer = keras.optimizers.Adam(schedule)


@tf.function
def step():
    t = tf.random.uniform((128, 1), 0.0, T_END)
    with tf.GradientTape() as weights_tape:
        with tf.GradientTape() as second:
            second.watch(t)
            with tf.GradientTape() as first:
                first.watch(t)
                y = u(t)
            dy = first.gradient(y, t)
        ddy = second.gradient(dy, t)
        residual = ddy + C * dy + K * y
        loss = tf.reduce_mean(residual ** 2)
    grads = weights_tape.gradient(loss, core.trainable_variables)
    optimizer.apply_gradients(zip(grads, core.trainable_variables))
    return loss


for i in range(1, 6001):
    loss = step()
    if i % 1000 == 0:
        print(i, "residual", float(loss))

t = np.linspace(0, T_END, 200, dtype="float32")[:, None]
w = np.sqrt(K - C ** 2 / 4)
exact = np.exp(-C / 2 * t) * (np.cos(w * t) + C / (2 * w) * np.sin(w * t))
err = np.abs(u(tf.constant(t)).numpy() - exact)
print("max error %.4f   mean error %.4f" % (err.max(), err.mean()))
