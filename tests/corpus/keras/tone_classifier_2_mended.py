"""Which instrument-like timbre is this?  Log-spectrogram frames + small 1-D convnet."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(21)
RATE, SAMPLES = 4000, 1600
TIMBRES = {
    "flute": [1.0, 0.2, 0.05, 0.0, 0.0],
    "clarinet": [1.0, 0.05, 0.6, 0.05, 0.35],
    "oboe": [0.5, 1.0, 0.7, 0.4, 0.2],
    "horn": [1.0, 0.7, 0.4, 0.25, 0.1],
    "reed": [0.3, 0.5, 0.9, 0.9, 0.6],
    "bell": [1.0, 0.0, 0.2, 0.9, 0.0],
}


def synth(n, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(SAMPLES) / RATE
    waves, labels = np.zeros((n, SAMPLES), "float32"), rng.integers(len(TIMBRES), size=n)
    recipes = list(TIMBRES.values())
    for i, k in enumerate(labels):
        f0 = rng.uniform(150, 370)
        for h, amp in enumerate(recipes[k], start=1):
            amp = amp * rng.uniform(0.7, 1.3)
            waves[i] += amp * np.sin(2 * np.pi * f0 * h * t + rng.uniform(0, 6.28))
        waves[i] *= np.exp(-t * rng.uniform(0, 4))
        waves[i] += rng.normal(0, 0.25, SAMPLES)
    return waves, labels


def features(waves):
    spec = tf.abs(tf.signal.stft(waves, frame_length=256, frame_step=128))
    return tf.math.log(spec + 1e-2).numpy()


def model_fn(shape, classes, norm):
    return keras.Sequential([
        keras.Input(shape),
        norm,
        layers.Conv1D(48, 3, activation="relu", padding="same"),
        layers.Conv1D(48, 3, activation="relu", padding="same"),
        layers.GlobalAveragePooling1D(),
        layers.Dense(48, activation="relu"),
        layers.Dense(classes, activation="softmax"),
    ])


x_train, y_train = synth(1500, 0)
x_val, y_val = synth(300, 1)
x_test, y_test = synth(500, 2)
x_train, x_val, x_test = map(features, (x_train, x_val, x_test))

norm = layers.Normalization(axis=-1)
norm.adapt(x_train)
net = model_fn(x_train.shape[1:], len(TIMBRES), norm)
net.compile(optimizer=keras.optimizers.SGD(0.02, momentum=0.5),
            loss="sparse_categorical_crossentropy", metrics=["accuracy"])

plateau = keras.callbacks.ReduceLROnPlateau(
    monitor="val_loss", mode="min", factor=0.2, patience=2, min_delta=1e-4, verbose=0)


class Trace(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print("ep {:02d} loss {:.3f} val_loss {:.3f} val_acc {:.3f}".format(
            epoch, logs["loss"], logs["val_loss"], logs["val_accuracy"]))


net.fit(x_train, y_train, validation_data=(x_val, y_val), epochs=30, batch_size=32,
        callbacks=[plateau, Trace()], verbose=0)

loss, acc = net.evaluate(x_test, y_test, verbose=0)
print(f"test loss {loss:.3f}  test accuracy {acc:.3f}  "
      f"(majority {np.bincount(y_test).max() / len(y_test):.3f})")
print("per class:", {name: round(float(np.mean(
    net.predict(x_test[y_test == k], verbose=0).argmax(1) == k)), 2)
    for k, name in enumerate(TIMBRES)})
