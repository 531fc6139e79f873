import argparse

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def residual(h, width, name):
    r = layers.LayerNormalization(name=f"{name}_norm")(h)
    r = layers.Conv2D(width, 3, padding="same", activation="gelu", name=f"{name}_in")(r)
    r = layers.Conv2D(width, 1, kernel_initializer="zeros", name=f"{name}_out")(r)
    return layers.Add(name=f"{name}_sum")([h, r])


def build(width, depth):
    inp = keras.Input((8, 8, 1))
    h = layers.Conv2D(width, 3, strides=2, padding="same", name="stem")(inp)
    for i in range(depth):
        h = residual(h, width, f"res{i}")
    h = layers.Flatten()(h)
    out = layers.Dense(10, kernel_initializer="zeros", name="head")(h)
    return keras.Model(inp, out)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--width", type=int, default=24)
    ap.add_argument("--depth", type=int, default=3)
    ap.add_argument("--epochs", type=int, default=10)
    args = ap.parse_args()

    keras.utils.set_random_seed(70)
    d = load_digits()
    x = (d.images[..., None] / 16.0).astype("float32")
    x_tr, x_te, y_tr, y_te = train_test_split(x, d.target, test_size=0.25, random_state=70)

    order = np.argsort(y_tr, kind="stable")
    x_tr, y_tr = x_tr[order], y_tr[order]

    model = build(args.width, args.depth)
    model.compile(
        optimizer=keras.optimizers.Adadelta(learning_rate=1.0),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    start, _ = model.evaluate(x_tr, y_tr, verbose=0)
    hist = model.fit(x_tr, y_tr, batch_size=32, epochs=args.epochs, verbose=0)
    for e, (l, a) in enumerate(zip(hist.history["loss"], hist.history["accuracy"])):
        if e % 3 == 0:
            print(f"epoch {e}: loss {l:.4f} accuracy {a:.3f}")
    loss, acc = model.evaluate(x_te, y_te, verbose=0)
    print(f"first loss {start:.4f}   test loss {loss:.4f}   test accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
