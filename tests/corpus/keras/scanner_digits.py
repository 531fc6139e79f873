# %% [markdown]
# Fine-tuning a small conv net pretrained on synthetic textures for scanner digits.
# Stage 1 trains the new head, stage 2 opens the whole trunk at a lower rate.

# %%
import numpy as np
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(11)

# %% pretext data: orientation of gratings
def gratings(n, rng):
    yy, xx = np.mgrid[0:8, 0:8] / 8.0
    k = rng.integers(0, 4, n)
    ang = k * np.pi / 4 + rng.normal(0, 0.08, n)
    freq = rng.uniform(1.0, 2.2, n)
    ph = rng.uniform(0, 2 * np.pi, n)
    wave = np.cos(ang)[:, None, None] * xx + np.sin(ang)[:, None, None] * yy
    img = 0.5 + 0.5 * np.sin(2 * np.pi * freq[:, None, None] * wave + ph[:, None, None])
    return (img + rng.normal(0, 0.1, img.shape)).astype("float32")[..., None], k


rng = np.random.default_rng(0)
xp, yp = gratings(1500, rng)

# %% trunk
trunk = keras.Sequential(
    [
        layers.Input((8, 8, 1)),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(64, 3, padding="same", activation="relu"),
        layers.GlobalAveragePooling2D(),
    ],
    name="trunk",
)
pretext = keras.Sequential([trunk, layers.Dense(4, activation="softmax")])
pretext.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
h = pretext.fit(xp, yp, epochs=5, batch_size=64, verbose=0)
print("pretext accuracy", round(h.history["accuracy"][-1], 3))

# %% target data
d = load_digits()
x = (d.images / 16.0).astype("float32")[..., None]
x_tr, x_te, y_tr, y_te = train_test_split(x, d.target, test_size=0.3, stratify=d.target, random_state=4)

# %% stage 1: head only
trunk.trainable = False
inp = keras.Input((8, 8, 1))
z = trunk(inp)
z = layers.Dropout(0.1)(z)
out = layers.Dense(10, activation="softmax")(z)
model = keras.Model(inp, out)
model.compile(
    optimizer=keras.optimizers.Adam(1e-2),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(x_tr, y_tr, epochs=6, batch_size=32, validation_data=(x_te, y_te), verbose=2)

# %% stage 2: whole network
trunk.trainable = True
model.optimizer.learning_rate = 4e-3
print("trainable tensors:", len(model.trainable_weights))
model.fit(
    x_tr,
    y_tr,
    epochs=22,
    initial_epoch=6,
    batch_size=32,
    validation_data=(x_te, y_te),
    verbose=2,
)

# %%
loss, acc = model.evaluate(x_te, y_te, verbose=0)
print(f"held-out accuracy {acc:.3f} (largest class {np.bincount(y_te).max() / len(y_te):.3f})")
