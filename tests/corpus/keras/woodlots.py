import argparse
import numpy as np
import tf_keras as keras
from tf_keras import layers


def load_plots(n, seed):
    rng = np.random.default_rng(seed)
    cover = rng.integers(1, 8, n)
    elevation = 1900 + 210 * cover + rng.normal(0, 90, n)
    slope = 8 + 5 * (cover % 3) + rng.normal(0, 2.5, n)
    hillshade = 230 - 14 * (cover % 4) + rng.normal(0, 7, n)
    to_water = 60 * (1 + cover % 2) + rng.exponential(40, n)
    to_road = rng.exponential(1200, n)
    x = np.stack([elevation, slope, hillshade, to_water, to_road], axis=1)
    return x.astype("float32"), cover


def build_model(num_features, num_classes, hidden):
    inp = keras.Input((num_features,))
    h = layers.Dense(hidden, activation="relu")(inp)
    h = layers.Dense(hidden, activation="relu")(h)
    out = layers.Dense(num_classes, activation="softmax")(h)
    return keras.Model(inp, out)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=12)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--hidden", type=int, default=48)
    p.add_argument("--lr", type=float, default=3e-3)
    args = p.parse_args()
    keras.utils.set_random_seed(21)

    x_train, y_train = load_plots(4000, 0)
    x_test, y_test = load_plots(1000, 1)
    mean, std = x_train.mean(0), x_train.std(0)
    x_train, x_test = (x_train - mean) / std, (x_test - mean) / std

    num_classes = len(np.unique(y_train))
    model = build_model(x_train.shape[1], num_classes, args.hidden)
    model.compile(keras.optimizers.Adam(args.lr), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x_train, y_train, epochs=args.epochs, batch_size=args.batch_size,
              validation_data=(x_test, y_test), verbose=2)
    print("test accuracy", model.evaluate(x_test, y_test, verbose=0)[1])


if __name__ == "__main__":
    main()
