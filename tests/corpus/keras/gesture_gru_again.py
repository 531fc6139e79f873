import argparse

import keras
import numpy as np
from keras import layers


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=15)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--units", type=int, default=32)
    p.add_argument("--per-gesture", type=int, default=160)
    p.add_argument("--seed", type=int, default=3)
    return p.parse_args()


GESTURES = ["swipe_left", "swipe_right", "circle", "shake", "tap"]


def record(gesture, rng, steps=32):
    t = np.linspace(0, 1, steps)
    phase = rng.uniform(0, 0.6)
    amp = rng.uniform(0.7, 1.3)
    if gesture == "swipe_left":
        xy = np.stack([-amp * t, 0.2 * np.sin(3 * t + phase)], 1)
    elif gesture == "swipe_right":
        xy = np.stack([amp * t, 0.2 * np.sin(3 * t + phase)], 1)
    elif gesture == "circle":
        w = 2 * np.pi * t + phase
        xy = amp * np.stack([np.cos(w), np.sin(w)], 1)
    elif gesture == "shake":
        xy = np.stack([amp * np.sin(25 * t + phase), 0.1 * t], 1)
    else:
        bump = np.exp(-((t - 0.3 - 0.5 * phase) ** 2) / 0.005)
        xy = np.stack([0 * t, -amp * bump], 1)
    return xy + rng.normal(0, 0.25, xy.shape)


def load_session(per_gesture, rng):
    signals, labels = [], []
    for idx, name in enumerate(GESTURES):
        for _ in range(per_gesture):
            signals.append(record(name, rng))
            labels.append(idx)
    return np.asarray(signals, "float32"), np.asarray(labels, "int32")


def build(units, n_classes):
    model = keras.Sequential([
        keras.Input((32, 2)),
        layers.Conv1D(16, 5, activation="relu", padding="same"),
        layers.MaxPooling1D(2),
        layers.GRU(units),
        layers.Dropout(0.2),
        layers.Dense(n_classes, activation="softmax"),
    ])
    model.compile(
        optimizer=keras.optimizers.Adam(3e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model


def main():
    args = parse_args()
    keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)

    x, y = load_session(args.per_gesture, rng)
    x_new, y_new = load_session(40, rng)

    model = build(args.units, len(GESTURES))
    hist = model.fit(
        x, y,
        validation_split=0.2,
        epochs=args.epochs,
        batch_size=args.batch_size,
        callbacks=[keras.callbacks.EarlyStopping(
            monitor="val_accuracy", patience=5, restore_best_weights=True)],
        verbose=2,
    )
    _, acc = model.evaluate(x_new, y_new, verbose=0)
    print(f"best val accuracy     {max(hist.history['val_accuracy']):.3f}")
    print(f"new session accuracy  {acc:.3f}")


if __name__ == "__main__":
    main()
