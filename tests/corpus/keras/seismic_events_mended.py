"""Classify short seismogram windows: tectonic quake, quarry blast, ambient noise."""
import os
os.environ.setdefault("KERAS_BACKEND", "tensorflow")
import numpy as np
import keras
from keras import layers
from sklearn.model_selection import train_test_split
from sklearn.metrics import balanced_accuracy_score

SEED = 11
WINDOW = 192
CLASSES = ["noise", "quake", "blast"]
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def ricker(t, t0, f):
    a = (np.pi * f * (t - t0)) ** 2
    return (1 - 2 * a) * np.exp(-a)


def one_trace(kind):
    t = np.linspace(0, 1, WINDOW)
    bg = np.convolve(rng.normal(size=WINDOW + 8), np.ones(9) / 9, mode="valid")
    trace = bg * rng.uniform(0.4, 1.0) + 0.15 * rng.normal(size=WINDOW)
    if kind == 0:
        return trace
    onset = rng.uniform(0.1, 0.4)
    gain = rng.lognormal(0.3, 0.7)
    p = ricker(t, onset, rng.uniform(18, 26))
    coda = np.where(t > onset, np.exp(-(t - onset) * 6), 0) * np.sin(2 * np.pi * rng.uniform(14, 20) * t)
    if kind == 1:
        s = 2.2 * ricker(t, onset + rng.uniform(0.2, 0.4), rng.uniform(8, 13))
        return trace + gain * (0.9 * p + s + 0.3 * coda)
    surface = np.where(t > onset + 0.1, np.exp(-(t - onset) * 3), 0) * np.sin(2 * np.pi * rng.uniform(4, 7) * t)
    return trace + gain * (1.6 * p + 0.9 * surface + 0.3 * coda)


def make_catalogue(n):
    y = rng.choice(3, size=n, p=[0.4, 0.35, 0.25])
    x = np.stack([one_trace(k) for k in y]).astype("float32")
    # station response differs between events
    x *= rng.lognormal(0.0, 0.6, size=(n, 1)).astype("float32")
    return x[..., None], y.astype("int64")


def conv_block(x, filters, stride):
    x = layers.Conv1D(filters, 7, strides=stride, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization(momentum=0.9, epsilon=1e-5)(x)
    return layers.Activation("relu")(x)


def build_net():
    inp = keras.Input((WINDOW, 1))
    x = conv_block(inp, 16, 2)
    x = conv_block(x, 32, 2)
    x = conv_block(x, 32, 2)
    x = conv_block(x, 48, 2)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dense(32, use_bias=False)(x)
    x = layers.BatchNormalization(momentum=0.9, epsilon=1e-5)(x)
    x = layers.Activation("relu")(x)
    return keras.Model(inp, layers.Dense(3)(x), name="seisnet")


def main():
    x, y = make_catalogue(1500)
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.3, stratify=y, random_state=SEED)
    x_tr, x_va, y_tr, y_va = train_test_split(x_tr, y_tr, test_size=0.15, stratify=y_tr, random_state=SEED)
    print("train/val/test:", len(x_tr), len(x_va), len(x_te))

    net = build_net()
    net.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    hist = net.fit(
        x_tr, y_tr,
        validation_data=(x_va, y_va),
        batch_size=8, epochs=7, verbose=0,
        callbacks=[keras.callbacks.LambdaCallback(
            on_epoch_end=lambda e, logs: print(
                f"epoch {e + 1} loss {logs['loss']:.3f} acc {logs['accuracy']:.3f} "
                f"val_loss {logs['val_loss']:.3f} val_acc {logs['val_accuracy']:.3f}"))],
    )
    pred = net.predict(x_te, verbose=0).argmax(1)
    print("last train accuracy:", round(hist.history["accuracy"][-1], 3))
    print("test balanced accuracy:", round(balanced_accuracy_score(y_te, pred), 3),
          "(majority guess 0.333)")
    for k, name in enumerate(CLASSES):
        print(f"  recall {name:6s} {np.mean(pred[y_te == k] == k):.3f}")


if __name__ == "__main__":
    main()
