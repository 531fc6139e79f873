"""Mixed-precision loop: scaled loss, gradients summed over chunks, one update per sum."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(19)
keras.mixed_precision.set_global_policy("mixed_float16")

CHUNK, CHUNKS, EPOCHS, STEP_SIZE = 32, 4, 10, 4e-3


def waveforms(n, seed):
    """Two-channel traces; the class is the lag between the channels."""
    rng = np.random.default_rng(seed)
    lag = rng.integers(0, 4, n)
    base = rng.normal(size=(n, 48))
    kernel = np.array([0.25, 0.5, 0.25])
    base = np.stack([np.convolve(b, kernel, "same") for b in base])
    other = np.stack([np.roll(b, 2 * k) for b, k in zip(base, lag)])
    x = np.stack([base, other], -1) + rng.normal(0, 0.45, (n, 48, 2))
    return x[:, 8:-8].astype("float32"), lag.astype("int32")


def build():
    inp = keras.Input((32, 2))
    x = layers.Conv1D(48, 9, activation="relu")(inp)
    x = layers.Conv1D(32, 3, activation="relu")(x)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dense(32, activation="relu")(x)
    return keras.Model(inp, layers.Dense(4, dtype="float32")(x))


model = build()
variables = model.trainable_variables
optimizer = keras.optimizers.LossScaleOptimizer(
    keras.optimizers.Adam(STEP_SIZE), initial_scale=2.0 ** 12)
optimizer.build(variables)
cross = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def update(xb, yb):
    sums = [tf.zeros(v.shape, tf.float32) for v in variables]
    total = 0.0
    for xc, yc in zip(tf.split(xb, CHUNKS), tf.split(yb, CHUNKS)):
        with tf.GradientTape() as tape:
            loss = cross(yc, model(xc, training=True)) / CHUNKS
            scaled = optimizer.scale_loss(loss)
        grads = tape.gradient(scaled, variables)
        sums = [s + tf.cast(g, tf.float32) for s, g in zip(sums, grads)]
        total += loss
    optimizer.apply_gradients(zip(sums, variables))
    return total


x, y = waveforms(3072, 0)
x_test, y_test = waveforms(800, 1)
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(3072, seed=2)
ds = ds.batch(CHUNK * CHUNKS, drop_remainder=True)

for epoch in range(EPOCHS):
    losses = [float(update(xb, yb)) for xb, yb in ds]
    if epoch % 2 == 1:
        scale = float(tf.convert_to_tensor(optimizer.dynamic_scale))
        print(f"epoch {epoch + 1:2d}  loss {np.mean(losses):.4f}  scale {scale:.0f}")

pred = model.predict(x_test, verbose=0).argmax(1)
print(f"test accuracy {np.mean(pred == y_test):.3f}"
      f"  (majority {np.bincount(y_test).max() / len(y_test):.3f})")
