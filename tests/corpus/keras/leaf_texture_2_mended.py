"""Leaf texture classification. Patches are generated per species, like folders on disk."""
import argparse
import numpy as np
import tensorflow as tf
import keras
from keras import layers

SPECIES = ["oak", "beech", "birch", "maple", "willow", "alder"]


def grow_patch(rng, species, size=20):
    """Oriented stripes: angle and pitch depend on the species."""
    angle = np.pi * species / len(SPECIES) + rng.normal(0, 0.08)
    pitch = 0.9 + 0.12 * (species % 3) + rng.normal(0, 0.05)
    yy, xx = np.mgrid[:size, :size]
    phase = rng.uniform(0, 2 * np.pi)
    stripes = np.sin(pitch * (xx * np.cos(angle) + yy * np.sin(angle)) + phase)
    return (stripes + rng.normal(0, 0.5, (size, size))).astype("float32")


def load_split(rng, per_species):
    images, labels = [], []
    for idx, _ in enumerate(SPECIES):
        for _ in range(per_species):
            images.append(grow_patch(rng, idx))
            labels.append(idx)
    return np.stack(images)[..., None], np.array(labels, dtype="int64")


def pipeline(images, labels, batch_size):
    ds = tf.data.Dataset.from_tensor_slices((images, labels))
    return ds.batch(batch_size).prefetch(tf.data.AUTOTUNE)


def train_pipeline(images, labels, batch_size):
    ds = tf.data.Dataset.from_tensor_slices((images, labels))
    ds = ds.cache().shuffle(len(images))
    return ds.batch(batch_size).prefetch(tf.data.AUTOTUNE)


def make_net():
    return keras.Sequential([
        keras.Input((20, 20, 1)),
        layers.Conv2D(16, 5, activation="relu"),
        layers.MaxPooling2D(2),
        layers.Conv2D(24, 3, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(32, activation="relu"),
        layers.Dense(len(SPECIES), activation="softmax"),
    ])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--batch-size", type=int, default=32)
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--per-species", type=int, default=256)
    ap.add_argument("--seed", type=int, default=4)
    args = ap.parse_args()

    keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    x_train, y_train = load_split(rng, args.per_species)
    x_test, y_test = load_split(rng, 80)

    train = train_pipeline(x_train, y_train, args.batch_size)
    test = pipeline(x_test, y_test, 120)

    net = make_net()
    net.compile(optimizer=keras.optimizers.Adam(args.lr),
                loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    net.fit(train, validation_data=test, epochs=args.epochs, verbose=2)

    pred = net.predict(x_test, verbose=0).argmax(1)
    for idx, name in enumerate(SPECIES):
        print(f"{name:8s} recall {np.mean(pred[y_test == idx] == idx):.3f}")
    print(f"test accuracy {np.mean(pred == y_test):.4f} (chance {1 / len(SPECIES):.3f})")


if __name__ == "__main__":
    main()
