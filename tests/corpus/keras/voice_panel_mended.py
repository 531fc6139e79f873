from dataclasses import dataclass

import keras
import numpy as np
from keras import layers
from sklearn import model_selection


@dataclass
class Panel:
    frames: np.ndarray
    mood: np.ndarray
    speaker: np.ndarray


def record(n_speakers, rng, clips=24, bins=40):
    frames, mood, speaker = [], [], []
    axis = np.linspace(0, 1, bins)
    tilt = np.sin(2 * np.pi * axis)
    for s in range(n_speakers):
        label = s % 2
        timbre = rng.normal(0, 1.0, size=bins)
        for _ in range(clips):
            spectrum = timbre + (2 * label - 1) * 0.22 * tilt + rng.normal(0, 0.5, size=bins)
            frames.append(spectrum)
            mood.append(label)
            speaker.append(s)
    return Panel(
        np.array(frames, dtype="float32"),
        np.array(mood, dtype="float32"),
        np.array(speaker),
    )


def build(bins):
    return keras.Sequential([
        keras.Input((bins,)),
        layers.Dense(64, activation="relu", kernel_regularizer=keras.regularizers.L2(1e-3)),
        layers.Dropout(0.3),
        layers.Dense(1, activation="sigmoid"),
    ])


def main():
    keras.utils.set_random_seed(17)
    rng = np.random.default_rng(17)
    panel = record(120, rng)
    later = record(300, rng)

    splitter = model_selection.GroupShuffleSplit(n_splits=1, test_size=0.25, random_state=17)
    tr, te = next(splitter.split(panel.frames, panel.mood, groups=panel.speaker))

    mean, std = panel.frames[tr].mean(0), panel.frames[tr].std(0)
    x_tr = (panel.frames[tr] - mean) / std
    x_te = (panel.frames[te] - mean) / std

    model = build(x_tr.shape[1])
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss="binary_crossentropy",
        metrics=["accuracy", keras.metrics.AUC(name="auc")],
    )
    model.fit(
        x_tr, panel.mood[tr],
        epochs=10,
        batch_size=64,
        verbose=0,
    )

    reported = model.evaluate(x_te, panel.mood[te], verbose=0, return_dict=True)
    fresh = model.evaluate((later.frames - mean) / std, later.mood, verbose=0, return_dict=True)
    print(f"held-out   accuracy {reported['accuracy']:.3f}  auc {reported['auc']:.3f}  loss {reported['loss']:.3f}")
    print(f"next month accuracy {fresh['accuracy']:.3f}  auc {fresh['auc']:.3f}  loss {fresh['loss']:.3f}")


if __name__ == "__main__":
    main()
