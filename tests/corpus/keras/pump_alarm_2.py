"""Which fault does the pump have? Eight classes from two vibration channels, Keras fit."""
import os

import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(12)
FAULTS = ["healthy", "unbalance", "misaligned", "bearing", "cavitation", "loose foot", "bent shaft", "dry running"]
N_SAMPLES = 256


def record(kind, rng):
    t = np.arange(N_SAMPLES) / N_SAMPLES
    f = rng.uniform(9, 12)                       # shaft frequency
    ph = rng.uniform(0, 2 * np.pi, 6)
    tone = lambda k, a, i: a * np.sin(2 * np.pi * k * f * t + ph[i])
    radial, axial = tone(1, 0.3, 0), tone(1, 0.15, 1)
    noise = 0.5
    strength = rng.uniform(0.6, 1.3)
    if kind == 1:
        radial = radial + tone(1, 0.9 * strength, 0)
    elif kind == 2:
        radial, axial = radial + tone(2, 0.6 * strength, 2), axial + tone(2, 0.8 * strength, 3)
    elif kind == 3:
        radial = radial + 0.9 * strength * np.sin(2 * np.pi * 70 * t) * (np.sin(2 * np.pi * 3.6 * f * t + ph[2]) > 0.8)
    elif kind == 4:
        noise = 0.5 + 0.35 * strength
    elif kind == 5:
        radial = radial + tone(0.5, 0.8 * strength, 4)
    elif kind == 6:
        axial = axial + tone(1, 0.9 * strength, 1)
    elif kind == 7:
        axial = axial + 0.7 * strength * np.sin(2 * np.pi * 95 * t + ph[5])
    x = np.stack([radial, axial], -1) + noise * rng.standard_normal((N_SAMPLES, 2))
    return x


def dataset(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(FAULTS), n)
    x = np.stack([record(k, rng) for k in y]).astype("float32")
    return x, y


def build(n_out):
    inp = keras.Input((N_SAMPLES, 2))
    x = layers.Conv1D(24, 9, strides=2, padding="same")(inp)
    x = layers.BatchNormalization()(x)
    x = layers.Activation("gelu")(x)
    x = layers.Conv1D(32, 9, strides=2, padding="same")(x)
    x = layers.BatchNormalization()(x)
    x = layers.Activation("gelu")(x)
    x = layers.Conv1D(48, 7, strides=2, padding="same", activation="gelu")(x)
    x = layers.Concatenate()([layers.GlobalAveragePooling1D()(x), layers.GlobalMaxPooling1D()(x)])
    x = layers.Dropout(0.2)(x)
    return keras.Model(inp, layers.Dense(n_out)(x), name="pump_net")


def main():
    x, y = dataset(2400, 0)
    xv, yv = dataset(500, 1)
    xt, yt = dataset(1200, 2)
    model = build(len(FAULTS))
    model.compile(
        optimizer=keras.optimizers.AdamW(2e-3, weight_decay=1e-4),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    os.makedirs("out", exist_ok=True)
    callbacks = [
        keras.callbacks.ModelCheckpoint("out/pump.weights.h5", monitor="val_accuracy", mode="max",
                                        save_best_only=True, save_weights_only=True),
        keras.callbacks.ReduceLROnPlateau(monitor="val_accuracy", mode="max", patience=3, factor=0.5),
    ]
    history = model.fit(x, y, validation_data=(xv, yv), epochs=14, batch_size=64, callbacks=callbacks, verbose=0)
    for e, (l, a, va) in enumerate(zip(history.history["loss"], history.history["accuracy"],
                                       history.history["val_accuracy"])):
        if e % 3 == 0:
            print(f"epoch {e:2d}  loss {l:.3f}  acc {a:.3f}  val acc {va:.3f}")

    model.load_weights("out/pump.weights.h5")
    pred = model.predict(xt, verbose=0).argmax(-1)
    print("test accuracy %.3f (largest class %.3f)" % ((pred == yt).mean(), np.bincount(yt).max() / len(yt)))
    for k, name in enumerate(FAULTS):
        print(f"   recall {name:12s} {(pred[yt == k] == k).mean():.3f}")


if __name__ == "__main__":
    main()
