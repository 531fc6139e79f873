"""Gesture recognition from a wrist-worn accelerometer (3 axes, 50 Hz, 1.2 s)."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.metrics import classification_report, f1_score

GESTURES = ["swipe", "circle", "shake", "tap", "rest"]
T = 60
BATCH = 32


def record(kind, rng):
    t = np.linspace(0, 1, T)
    a = np.zeros((T, 3))
    amp = rng.uniform(0.7, 1.4)
    ph = rng.uniform(0, 2 * np.pi)
    if kind == 0:
        c = rng.uniform(0.35, 0.65)
        a[:, 0] = amp * 2 * (t - c) * np.exp(-((t - c) / 0.15) ** 2) * 6
    elif kind == 1:
        f = rng.uniform(1.2, 2.0)
        a[:, 0], a[:, 1] = amp * np.cos(2 * np.pi * f * t + ph), amp * np.sin(2 * np.pi * f * t + ph)
    elif kind == 2:
        f = rng.uniform(4, 7)
        a[:, 0], a[:, 2] = amp * np.sin(2 * np.pi * f * t + ph), 0.5 * amp * np.sin(2 * np.pi * f * t)
    elif kind == 3:
        for c in rng.uniform(0.2, 0.8, 2):
            a[:, 2] += amp * 2 * np.exp(-((t - c) / 0.02) ** 2)
    a += rng.normal(0, 0.3, a.shape)
    a[:, 2] += rng.normal(1.0, 0.1)
    return a


def build_arrays(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(GESTURES), n)
    x = np.stack([record(k, rng) for k in y]).astype("float32")
    return x, y.astype("int32")


def make_dataset(x, y, training):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if training:
        ds = ds.shuffle(buffer_size=len(x))
    return ds.batch(BATCH).prefetch(tf.data.AUTOTUNE)


def build_model():
    return keras.Sequential([
        keras.Input((T, 3)),
        layers.Conv1D(24, 7, padding="same"),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.MaxPooling1D(2),
        layers.SeparableConv1D(48, 5, padding="same", activation="relu"),
        layers.MaxPooling1D(2),
        layers.Bidirectional(layers.GRU(16)),
        layers.Dropout(0.3),
        layers.Dense(len(GESTURES), activation="softmax"),
    ])


class LrPrinter(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        lr = float(self.model.optimizer.learning_rate)
        print(f"epoch {epoch + 1:02d} lr {lr:.5f} " + " ".join(f"{k}={v:.3f}" for k, v in logs.items()))


def report(model, ds):
    y_prob = model.predict(ds, verbose=0)
    y_pred = np.argmax(y_prob, axis=1)
    y_true = np.concatenate([labels.numpy() for _, labels in ds])
    print(classification_report(y_true, y_pred, target_names=GESTURES, digits=3, zero_division=0))
    return f1_score(y_true, y_pred, average="macro")


if __name__ == "__main__":
    keras.utils.set_random_seed(21)
    train_ds = make_dataset(*build_arrays(900, 0), training=True)
    val_ds = make_dataset(*build_arrays(250, 1), training=False)
    test_ds = make_dataset(*build_arrays(400, 2), training=False)

    model = build_model()
    model.compile(keras.optimizers.Adam(3e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(train_ds, validation_data=val_ds, epochs=7, verbose=0, callbacks=[LrPrinter()])
    print("test macro F1: %.3f (guessing about %.2f)" % (report(model, test_ds), 1 / len(GESTURES)))
