"""Fixed random filters plus a trained read-out (reservoir-style image features).

The convolution bank is drawn once and never trained; only the linear read-out
learns, with full-batch gradient steps and a large rate.
"""
import argparse
import os

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--filters", type=int, default=96)
    p.add_argument("--rate", type=float, default=8.0)
    p.add_argument("--epochs", type=int, default=120)
    p.add_argument("--seed", type=int, default=12)
    return p.parse_args()


@keras.saving.register_keras_serializable("reservoir")
class RandomBank(layers.Layer):
    """Random 3x3 filters, rectified, averaged over a 4x4 grid; frozen by design."""

    def __init__(self, filters, **kw):
        super().__init__(trainable=False, **kw)
        self.filters = filters

    def build(self, shape):
        self.kernel = self.add_weight(
            shape=(3, 3, shape[-1], self.filters),
            initializer=keras.initializers.RandomNormal(stddev=0.6),
            trainable=False,
            name="kernel",
        )
        self.shift = self.add_weight(
            shape=(self.filters,),
            initializer=keras.initializers.RandomUniform(-0.5, 0.5),
            trainable=False,
            name="shift",
        )

    def call(self, x):
        h = keras.ops.conv(x, self.kernel, padding="same") + self.shift
        h = keras.ops.relu(h)
        h = keras.ops.average_pool(h, 2, strides=2)
        return keras.ops.reshape(h, (-1, 16 * self.filters))

    def get_config(self):
        return {**super().get_config(), "filters": self.filters}


def main():
    args = get_args()
    os.makedirs("out", exist_ok=True)
    keras.utils.set_random_seed(args.seed)
    digits = load_digits()
    x = (digits.images / 16.0).astype("float32")[..., None]
    y = keras.utils.to_categorical(digits.target, 10)
    x_tr, x_te, y_tr, y_te = train_test_split(
        x, y, test_size=0.4, stratify=digits.target, random_state=args.seed
    )

    inp = keras.Input((8, 8, 1))
    bank = RandomBank(args.filters, name="bank")
    features = bank(inp)
    extractor = keras.Model(inp, features)
    # features are the same in every epoch, so compute them once
    z_tr = extractor.predict(x_tr, verbose=0)
    z_te = extractor.predict(x_te, verbose=0)
    mu, sd = z_tr.mean(0), z_tr.std(0) + 1e-3
    scale = np.sqrt(z_tr.shape[1])
    z_tr, z_te = (z_tr - mu) / sd / scale, (z_te - mu) / sd / scale

    read_out = keras.Sequential(
        [
            keras.Input((z_tr.shape[1],)),
            layers.Dense(10, kernel_initializer="zeros",
                         kernel_regularizer=keras.regularizers.L2(1e-4)),
        ]
    )
    read_out.compile(
        optimizer=keras.optimizers.SGD(args.rate, momentum=0.5),
        loss=keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.02),
        metrics=["accuracy"],
    )
    print("trainable in bank:", len(bank.trainable_weights),
          "| in read-out:", len(read_out.trainable_weights))
    log = read_out.fit(
        z_tr, y_tr, batch_size=len(z_tr), epochs=args.epochs, verbose=0,
        validation_data=(z_te[:200], y_te[:200]), validation_freq=20,
    ).history
    for e in range(0, args.epochs, 20):
        print(f"step {e:3d} loss {log['loss'][e]:.4f} accuracy {log['accuracy'][e]:.3f}")

    _, acc = read_out.evaluate(z_te[200:], y_te[200:], verbose=0)
    majority = y_te[200:].mean(0).max()
    print(f"held-out accuracy {acc:.3f} (majority class {majority:.3f})")
    read_out.save("out/read_out.keras")


if __name__ == "__main__":
    main()
