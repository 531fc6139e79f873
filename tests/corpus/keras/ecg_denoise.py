"""Denoising autoencoder for synthetic heart beats, custom loop."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(9)
LENGTH, BATCH, EPOCHS, SIGMA = 64, 16, 40, 0.4


def beats(n):
    t = np.linspace(0, 1, LENGTH)[None]
    def bump(center, width, height):
        c = center + np.random.uniform(-0.05, 0.05, (n, 1))
        h = height * np.random.uniform(0.7, 1.3, (n, 1))
        return h * np.exp(-0.5 * ((t - c) / width) ** 2)
    wave = bump(0.25, 0.04, 0.4) - bump(0.42, 0.02, 0.5) + bump(0.48, 0.025, 2.0)
    wave += -bump(0.54, 0.02, 0.6) + bump(0.75, 0.06, 0.6)
    return wave.astype("float32")


train_x, test_x = beats(1600), beats(400)
train_ds = tf.data.Dataset.from_tensor_slices(train_x).shuffle(1600).batch(BATCH, drop_remainder=True)

autoencoder = keras.Sequential([
    keras.Input((LENGTH,)),
    keras.layers.Dense(256, activation="relu"),
    keras.layers.Dense(64, activation="relu"),
    keras.layers.Dense(256, activation="relu"),
    keras.layers.Dense(LENGTH),
])
optimizer = keras.optimizers.Adam(1e-3)
mse = keras.losses.MeanSquaredError()


@tf.function
def train_step(clean):
    noisy = clean + np.random.normal(0.0, SIGMA, size=clean.shape).astype("float32")
    with tf.GradientTape() as tape:
        restored = autoencoder(noisy, training=True)
        loss = mse(clean, restored)
    grads = tape.gradient(loss, autoencoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, autoencoder.trainable_variables))
    return loss


for epoch in range(EPOCHS):
    losses = [float(train_step(batch)) for batch in train_ds]
    if (epoch + 1) % 5 == 0:
        print(f"epoch {epoch + 1:2d}  train mse {np.mean(losses):.5f}")

noisy_test = test_x + np.random.normal(0, SIGMA, test_x.shape).astype("float32")
restored = autoencoder.predict(noisy_test, verbose=0)
before = np.mean((noisy_test - test_x) ** 2)
after = np.mean((restored - test_x) ** 2)
print(f"test mse, noisy    {before:.5f}")
print(f"test mse, restored {after:.5f}")
print(f"improvement        {10 * np.log10(before / after):.2f} dB")
