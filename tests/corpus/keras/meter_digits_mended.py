"""Fine-tune a digit backbone (pre-trained on paper forms) for the dark dials of old gas meters."""
import argparse

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--head-epochs", type=int, default=10)
parser.add_argument("--full-epochs", type=int, default=30)
parser.add_argument("--per-class", type=int, default=50)
parser.add_argument("--seed", type=int, default=19)
args = parser.parse_args()
keras.utils.set_random_seed(args.seed)
rng = np.random.default_rng(args.seed)


def load_domains():
    d = load_digits()
    x = d.images.astype("float32")[..., None] / 16.0
    y = d.target.astype("int32")
    order = rng.permutation(len(x))
    x, y = x[order], y[order]
    forms, dials = y < 5, y >= 5
    xd = 0.8 - 0.6 * np.rot90(x[dials], axes=(1, 2))          # dials lie on their side, light on dark
    xd = xd + rng.normal(0, 0.08, xd.shape)
    return (x[forms], y[forms]), (xd.astype("float32"), y[dials] - 5)


def make_backbone():
    return keras.Sequential([
        keras.Input((8, 8, 1)),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(64, 3, padding="same", activation="relu"),
        layers.GlobalMaxPooling2D(),
    ], name="backbone")


def pretrain(backbone, x, y):
    net = keras.Sequential([backbone, layers.Dense(5, activation="softmax")])
    net.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    h = net.fit(x, y, epochs=12, batch_size=32, validation_split=0.15, verbose=0)
    print(f"pre-training on forms: val accuracy {h.history['val_accuracy'][-1]:.3f}")


def count(weights):
    return int(sum(np.prod(w.shape) for w in weights))


(x_src, y_src), (x_dst, y_dst) = load_domains()
backbone = make_backbone()
pretrain(backbone, x_src, y_src)

n_train = args.per_class * 5
x_train, y_train = x_dst[:n_train], y_dst[:n_train]
x_test, y_test = x_dst[n_train:], y_dst[n_train:]

# stage 1: only the new head
backbone.trainable = False
inputs = keras.Input((8, 8, 1))
features = backbone(inputs, training=False)
outputs = layers.Dense(5, activation="softmax", name="dial_head")(layers.Dropout(0.1)(features))
model = keras.Model(inputs, outputs)
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
print(f"stage 1: {count(model.trainable_weights)} trainable parameters")
model.fit(x_train, y_train, batch_size=20, epochs=args.head_epochs, verbose=0)
acc_head = model.evaluate(x_test, y_test, verbose=0)[1]
print(f"after stage 1: held-out accuracy {acc_head:.3f}")

# stage 2: the whole network, gently
backbone.trainable = True
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
print(f"stage 2: {count(model.trainable_weights)} trainable parameters")
hist = model.fit(x_train, y_train, batch_size=20, epochs=args.full_epochs, verbose=0)
for e in range(4, args.full_epochs, 5):
    print(f"  epoch {e + 1:2d}  loss {hist.history['loss'][e]:.4f}  accuracy {hist.history['accuracy'][e]:.3f}")
acc_full = model.evaluate(x_test, y_test, verbose=0)[1]
print(f"after stage 2: held-out accuracy {acc_full:.3f} (largest class {np.bincount(y_test).max() / len(y_test):.3f})")
