import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import csv
import tempfile
from pathlib import Path
import numpy as np
import pandas as pd
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(21)
KINDS = ["round", "oblong", "winged", "split"]
SIZE = 24
N = 800


def draw(rng, kind):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype(float)
    cy, cx = rng.uniform(9, 15, 2)
    u, v = yy - cy, xx - cx
    if kind == 0:
        body = (u ** 2 + v ** 2) < 20
    elif kind == 1:
        body = (u ** 2 / 50 + v ** 2 / 8) < 1
    elif kind == 2:
        body = ((u ** 2 + v ** 2) < 8) | ((np.abs(u) < 1.5) & (np.abs(v) < 9))
    else:
        body = ((u ** 2 + v ** 2) < 30) & (np.abs(v) > 1.5)
    img = 60 + 130 * body + rng.normal(0, 18, body.shape)
    return np.clip(img, 0, 255).astype("uint8")[..., None]


def export(folder):
    rng = np.random.default_rng(4)
    (folder / "photos").mkdir()
    with open(folder / "index.csv", "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(["file", "kind"])
        for i in range(N):
            kind = int(rng.integers(len(KINDS)))
            name = f"seed_{i}.png"
            (folder / "photos" / name).write_bytes(tf.io.encode_png(draw(rng, kind)).numpy())
            out.writerow([name, KINDS[kind]])


def load(folder, subset):
    index = pd.read_csv(folder / "index.csv")
    labels = index["kind"].map(KINDS.index).tolist()
    return keras.utils.image_dataset_from_directory(
        str(folder / "photos"), labels=labels, label_mode="int", color_mode="grayscale",
        image_size=(SIZE, SIZE), batch_size=32, shuffle=True, seed=7,
        validation_split=0.2, subset=subset)


with tempfile.TemporaryDirectory() as tmp:
    folder = Path(tmp)
    export(folder)
    train_ds = load(folder, "training").cache()
    val_ds = load(folder, "validation").cache()

    model = keras.Sequential([
        keras.Input((SIZE, SIZE, 1)),
        layers.Rescaling(1 / 127.5, offset=-1),
        layers.Conv2D(12, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(24, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(32, activation="relu"),
        layers.Dense(len(KINDS), activation="softmax"),
    ])
    model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(train_ds, validation_data=val_ds, epochs=8, verbose=2)
    print("validation:", model.evaluate(val_ds, verbose=0, return_dict=True))
