"""Rhythm classification from few labelled strips.

Stage 1 trains a 1-D convnet to read rate, wave width, noise and interval statistics from plenty of simulated
strips and stores it. Stage 2 loads that network as backbone for a four-class rhythm task with
a hundred or so annotated strips.
"""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
from keras import layers
from sklearn.metrics import f1_score

LENGTH = 192
RHYTHMS = ["regular", "bigeminy", "irregular", "dropped_beat"]
CKPT = os.path.join("out", "heartbeat_backbone.weights.h5")


def strips(n, rng, rhythm=None):
    """Beats as a sharp wave followed by a slow one; intervals depend on the rhythm."""
    kind = rng.integers(0, 4, n) if rhythm is None else np.full(n, rhythm)
    rate = rng.uniform(18, 30, n)
    width = rng.uniform(1.0, 2.2, n)
    noise = rng.uniform(0.05, 0.2, n)
    t = np.arange(LENGTH)
    x = np.zeros((n, LENGTH))
    jitter = np.zeros((n, 3))
    for i in range(n):
        gaps = np.full(16, rate[i]) + rng.normal(0, 0.4, 16)
        if kind[i] == 1:
            gaps[::2] *= 0.72
            gaps[1::2] *= 1.28
        elif kind[i] == 2:
            gaps *= rng.uniform(0.65, 1.35, 16)
        elif kind[i] == 3:
            gaps[rng.integers(1, 4)::4] *= 1.9
        at = rng.uniform(0, rate[i]) - rate[i] + np.cumsum(gaps)
        inside = at[at < LENGTH]
        rr = np.diff(inside) / rate[i]
        jitter[i] = rr.std(), np.abs(np.diff(rr)).mean(), rr.max() - np.median(rr)
        d = t[None] - inside[:, None]
        x[i] = (np.exp(-(d / width[i]) ** 2) + 0.3 * np.exp(-((d - 7) / 3.0) ** 2)).sum(0)
        x[i] = x[i] * rng.uniform(0.7, 1.3) + 0.2 * np.sin(t / 40 + rng.uniform(0, 6))
        x[i] += rng.normal(0, noise[i], LENGTH)
    aux = np.stack([(rate - 24) / 3.5, (width - 1.6) / 0.35, (noise - 0.125) / 0.045,
                    jitter[:, 0] * 4, jitter[:, 1] * 4, jitter[:, 2] * 4], 1)
    return x[..., None].astype("float32"), kind, aux.astype("float32")


def backbone():
    return keras.Sequential([
        keras.Input((LENGTH, 1)),
        layers.Conv1D(24, 9, strides=2, padding="same", activation="relu"),
        layers.Conv1D(32, 9, strides=2, padding="same", activation="relu"),
        layers.Conv1D(48, 9, strides=2, padding="same", activation="relu"),
        layers.Conv1D(48, 9, strides=2, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
    ], name="backbone")


def init_weights(model, seed=0):
    """He-normal kernels and zero biases, as in our other projects."""
    he = keras.initializers.HeNormal(seed=keras.random.SeedGenerator(seed))
    for layer in model._flatten_layers(include_self=False, recursive=True):
        if isinstance(layer, (layers.Dense, layers.Conv1D)):
            layer.kernel.assign(he(layer.kernel.shape))
            layer.bias.assign(np.zeros(layer.bias.shape, "float32"))


def pretrain(rng):
    x, _, aux = strips(6000, rng)
    body = backbone()
    model = keras.Sequential([body, layers.Dense(aux.shape[1])])
    init_weights(model)
    model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
    hist = model.fit(x, aux, batch_size=128, epochs=10, validation_split=0.1, verbose=0)
    print("stage 1 validation mse by epoch:", np.round(hist.history["val_loss"], 3))
    body.save_weights(CKPT)


def finetune(x, y, lr=5e-4, epochs=20):
    body = backbone()
    model = keras.Sequential([body, layers.Dropout(0.2), layers.Dense(len(RHYTHMS))], name="rhythm")
    model.build((None, LENGTH, 1))
    body.load_weights(CKPT)
    init_weights(model)
    model.compile(
        optimizer=keras.optimizers.Adam(lr),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    hist = model.fit(x, y, batch_size=16, epochs=epochs, verbose=0)
    for e in range(4, epochs, 5):
        print(f"epoch {e + 1:2d} loss {hist.history['loss'][e]:.3f} acc {hist.history['accuracy'][e]:.3f}")
    return model


def main():
    os.makedirs("out", exist_ok=True)
    keras.utils.set_random_seed(31)
    rng = np.random.default_rng(31)
    pretrain(rng)

    few = [strips(30, rng, k) for k in range(4)]
    x_few = np.concatenate([f[0] for f in few])
    y_few = np.concatenate([f[1] for f in few])
    x_test, y_test, _ = strips(1200, rng)

    model = finetune(x_few, y_few)
    pred = model.predict(x_test, batch_size=256, verbose=0).argmax(1)
    print(f"held-out accuracy {np.mean(pred == y_test):.4f}  macro F1 {f1_score(y_test, pred, average='macro'):.4f}"
          f"  (chance 0.25)")


if __name__ == "__main__":
    main()
