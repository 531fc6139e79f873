import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

SR = 4000
CLIP = 1024
SPECIES = ["wren", "robin", "owl", "finch", "crow"]
VOICE = {"wren": (1500, 500, 12), "robin": (1100, 300, 6), "owl": (350, 60, 2),
         "finch": (1300, 100, 20), "crow": (600, 200, 9)}


def sing(species, rng):
    centre, sweep, trill = VOICE[species]
    t = np.arange(CLIP) / SR
    centre = centre * rng.uniform(0.9, 1.1)
    inst = centre + sweep * np.sin(2 * np.pi * trill * t + rng.uniform(0, 6.28))
    wave = np.sin(2 * np.pi * np.cumsum(inst) / SR)
    return wave * rng.uniform(0.5, 1.0) + rng.normal(0, 0.6, CLIP)


def log_spectrum(wave, bands=48):
    frames = wave.reshape(-1, 256) * np.hanning(256)
    power = (np.abs(np.fft.rfft(frames, axis=1)) ** 2).mean(0)[1:]
    groups = np.array_split(power, bands)
    return np.log(np.array([g.mean() for g in groups]) + 1e-3)


def make_split(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(SPECIES), n)
    x = np.stack([log_spectrum(sing(SPECIES[k], rng)) for k in y])
    return x.astype("float32"), y.astype("int64")


def build_classifier(bands, n_classes):
    return keras.Sequential([
        layers.Input((bands,)),
        layers.Dense(64, use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.Dense(64, use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.Dense(n_classes),
    ])


loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def train(model, ds, epochs, lr):
    schedule = keras.optimizers.schedules.CosineDecay(lr, epochs * len(ds))
    optimizer = keras.optimizers.Adam(schedule)

    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            logits = model(xb, training=True)
            loss = loss_fn(yb, logits)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    for epoch in range(epochs):
        losses = [float(step(xb, yb)) for xb, yb in ds]
        print(f"epoch {epoch + 1} train loss {np.mean(losses):.4f}")


def identify(model, clip):
    logits = model(clip[None], training=True)
    return int(tf.argmax(logits[0]))


def score(model, x, y):
    hits = [identify(model, clip) == label for clip, label in zip(x, y)]
    return float(np.mean(hits))


if __name__ == "__main__":
    keras.utils.set_random_seed(9)
    x_train, y_train = make_split(1500, 1)
    x_test, y_test = make_split(300, 2)
    ds = (tf.data.Dataset.from_tensor_slices((x_train, y_train))
          .shuffle(1500).batch(50, drop_remainder=True))
    model = build_classifier(x_train.shape[1], len(SPECIES))
    train(model, ds, epochs=10, lr=3e-3)
    print("test accuracy", round(score(model, x_test, y_test), 4),
          "majority", round(np.bincount(y_test).max() / len(y_test), 4))
