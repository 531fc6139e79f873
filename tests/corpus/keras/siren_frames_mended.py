# Which siren is it?  (yelp / wail / hi-lo) from half a second of 4 kHz audio.
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(21)
RATE, N = 4000, 2000
AUTOTUNE = tf.data.AUTOTUNE


def synth(n, rng):
    t = np.arange(N) / RATE
    waves, labels = [], []
    for _ in range(n):
        k = rng.integers(3)
        base = rng.uniform(500, 900)
        phase = rng.uniform(0, 2 * np.pi)
        if k == 0:
            f = base + 250 * np.sin(2 * np.pi * rng.uniform(7, 9) * t + phase)
        elif k == 1:
            f = base + 250 * np.sin(2 * np.pi * rng.uniform(1.2, 2) * t + phase)
        else:
            f = base + 220 * np.sign(np.sin(2 * np.pi * rng.uniform(3, 4.5) * t + phase))
        s = np.sin(2 * np.pi * np.cumsum(f) / RATE)
        waves.append(rng.uniform(0.1, 1.0) * s + 0.15 * rng.normal(size=N))
        labels.append(k)
    return np.array(waves, "float32"), np.array(labels, "int32")


def spectrum(wave):
    return tf.abs(tf.signal.stft(wave, frame_length=128, frame_step=64, fft_length=128))


def train_example(wave, label):
    gain = tf.random.uniform([], 0.7, 1.3)
    wave = wave * gain + tf.random.normal(tf.shape(wave), stddev=0.02)
    spec = tf.math.log(spectrum(wave) + 1e-3)
    return spec[..., None], label


def val_example(wave, label):
    spec = tf.math.log(spectrum(wave) + 1e-3)
    return spec[..., None], label


rng = np.random.default_rng(21)
w_train, y_train = synth(1500, rng)
w_val, y_val = synth(400, rng)

train_ds = (
    tf.data.Dataset.from_tensor_slices((w_train, y_train))
    .shuffle(1500)
    .map(train_example, num_parallel_calls=AUTOTUNE)
    .batch(32)
    .prefetch(AUTOTUNE)
)
val_ds = (
    tf.data.Dataset.from_tensor_slices((w_val, y_val))
    .map(val_example, num_parallel_calls=AUTOTUNE)
    .batch(100)
    .prefetch(AUTOTUNE)
)

model = tf.keras.Sequential([
    tf.keras.Input((30, 65, 1)),
    tf.keras.layers.Conv2D(12, 5, strides=2, activation="relu", padding="same"),
    tf.keras.layers.Conv2D(24, 3, strides=2, activation="relu", padding="same"),
    tf.keras.layers.Conv2D(32, 3, activation="relu", padding="same"),
    tf.keras.layers.MaxPooling2D(2),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dropout(0.2),
    tf.keras.layers.Dense(3),
])
model.compile(
    optimizer=tf.keras.optimizers.Adam(1e-3),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
history = model.fit(train_ds, validation_data=val_ds, epochs=8, verbose=2)
print("best val accuracy", max(history.history["val_accuracy"]))
print("last val accuracy", history.history["val_accuracy"][-1])
