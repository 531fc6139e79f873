import argparse

import numpy as np
import keras
from keras import layers

parser = argparse.ArgumentParser()
parser.add_argument("--species", type=int, default=8)
parser.add_argument("--bins", type=int, default=64)
parser.add_argument("--frames", type=int, default=16)
parser.add_argument("--pre_epochs", type=int, default=4)
parser.add_argument("--warm_epochs", type=int, default=5)
parser.add_argument("--tune_epochs", type=int, default=12)
args = parser.parse_args()

keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)

base_pitch = rng.uniform(10, args.bins - 12, args.species)
slope = rng.uniform(-1.2, 1.2, args.species)
harm = rng.uniform(4, 10, args.species)


def call_spectra(kind):
    t = np.arange(args.frames)
    f = np.arange(args.bins)[None, :, None]
    centre = (base_pitch[kind] + rng.normal(0, 1.5, len(kind)))[:, None] + slope[kind][:, None] * (t - 8)
    s = np.exp(-0.5 * ((f - centre[:, None, :]) / 1.5) ** 2)
    s += 0.5 * np.exp(-0.5 * ((f - centre[:, None, :] - harm[kind][:, None, None]) / 1.5) ** 2)
    s += 0.25 * rng.random((len(kind), args.bins, args.frames))
    s = np.log1p(8 * s)
    return (s / s.max(axis=(1, 2), keepdims=True)).transpose(0, 2, 1).astype("float32")


def build_encoder():
    inp = layers.Input((args.frames, args.bins))
    h = layers.Conv1D(32, 3, padding="same", activation="relu")(inp)
    h = layers.Conv1D(32, 3, padding="same", activation="relu")(h)
    return keras.Model(inp, h, name="encoder")


def pretrain(encoder, x):
    inp = layers.Input((args.frames, args.bins))
    out = layers.Dense(args.bins, activation="sigmoid")(encoder(inp))
    ae = keras.Model(inp, out)
    ae.compile(optimizer="adam", loss="mse")
    noisy = x * (rng.random(x.shape) > 0.2)
    h = ae.fit(noisy, x, epochs=args.pre_epochs, batch_size=64, verbose=0)
    print("denoising mse", [round(v, 4) for v in h.history["loss"]])


def classifier(encoder):
    inp = layers.Input((args.frames, args.bins))
    h = layers.GlobalAveragePooling1D()(encoder(inp))
    h = layers.Dense(48, activation="relu")(h)
    out = layers.Dense(args.species, name="species")(h)
    return keras.Model(inp, out)


unlabelled = call_spectra(rng.integers(0, args.species, 1500))
y_tr = rng.integers(0, args.species, 600)
x_tr = call_spectra(y_tr)
y_te = rng.integers(0, args.species, 400)
x_te = call_spectra(y_te)

encoder = build_encoder()
pretrain(encoder, unlabelled)

clf = classifier(encoder)
criterion = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
for name, frozen, lr, epochs in [
    ("warm", True, 2e-3, args.warm_epochs),
    ("tune", False, 1e-3, args.tune_epochs),
]:
    encoder.trainable = not frozen
    clf.compile(optimizer=keras.optimizers.Adam(lr), loss=criterion, metrics=["accuracy"])
    h = clf.fit(x_tr, y_tr, epochs=epochs, batch_size=32, verbose=0)
    print(f"{name}: loss {h.history['loss'][-1]:.4f} acc {h.history['accuracy'][-1]:.3f}")

loss, acc = clf.evaluate(x_te, y_te, verbose=0)
print(f"test loss {loss:.4f}  test accuracy {acc:.3f}  chance {1 / args.species:.3f}")
