"""Mixture density network (Bishop 1994) on the inverse of a loudness fade curve; accumulated gradients."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

K = 5
ACCUMULATE = 4
MICRO = 32
STEPS = 800

keras.utils.set_random_seed(15)
rng = np.random.default_rng(15)
position = rng.uniform(0, 1, 5000)
loudness = position + 0.3 * np.sin(2 * np.pi * position) + rng.normal(0, 0.04, position.size)
x = ((loudness - loudness.mean()) / loudness.std()).astype("float32")[:, None]
y = position.astype("float32")[:, None]
x_train, y_train, x_held, y_held = x[:4500], y[:4500], x[4500:], y[4500:]

inp = keras.Input((1,))
h = layers.Dense(64, activation="tanh")(inp)
h = layers.Dense(64, activation="tanh")(h)
out = layers.Dense(3 * K, bias_initializer=keras.initializers.RandomUniform(0.0, 1.0))(h)
mdn = keras.Model(inp, out)


def log_density(params, target):
    logit, mean, log_sd = tf.split(params, 3, axis=-1)
    log_sd = -3.0 + tf.nn.softplus(log_sd + 3.0)
    z = (target - mean) * tf.exp(-log_sd)
    component = -0.5 * tf.square(z) - log_sd - 0.5 * np.log(2 * np.pi)
    return tf.reduce_logsumexp(tf.nn.log_softmax(logit) + component, axis=-1)


variables = mdn.trainable_variables
bank = [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]
optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, STEPS))


@tf.function
def micro_step(xb, yb):
    with tf.GradientTape() as tape:
        nll = -tf.reduce_sum(log_density(mdn(xb, training=True), yb)) / (MICRO * ACCUMULATE)
    for slot, g in zip(bank, tape.gradient(nll, variables)):
        slot.assign_add(g)
    return nll * ACCUMULATE


@tf.function
def apply_bank():
    clipped, norm = tf.clip_by_global_norm([slot.read_value() for slot in bank], 1.0)
    optimizer.apply_gradients(zip(clipped, variables))
    for slot in bank:
        slot.assign(tf.zeros_like(slot))
    return norm


stream = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .shuffle(4500).repeat().batch(MICRO).take(STEPS * ACCUMULATE).prefetch(4)
)
trace = []
for i, (xb, yb) in enumerate(stream, start=1):
    trace.append(float(micro_step(xb, yb)))
    if i % ACCUMULATE == 0:
        apply_bank()
    if i % (160 * ACCUMULATE) == 0:
        held = float(tf.reduce_mean(log_density(mdn(x_held, training=False), y_held)))
        print(f"update {i // ACCUMULATE:4d} train nll {np.mean(trace[-200:]):+.3f} held-out nll {-held:+.3f}")

spread = float(np.log(y_held.std()) + 0.5 * np.log(2 * np.pi * np.e))
print(f"a single Gaussian without inputs would reach {spread:+.3f}")
