import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(8)
SIDE, BATCH = 14, 48
yy, xx = np.mgrid[0:SIDE, 0:SIDE]


def draw(n, rng, rare=0.06):
    """Round particles and, seldom, cross-shaped ones; their width in pixels is measured for half of them."""
    images = np.zeros((n, SIDE, SIDE, 1), "float32")
    kind = (rng.random(n) < rare).astype("float32")
    width = rng.uniform(2.0, 5.0, n).astype("float32")
    for i in range(n):
        cy, cx = rng.uniform(5, SIDE - 6, 2)
        dy, dx = np.abs(yy - cy), np.abs(xx - cx)
        if kind[i]:
            shape = ((dy < 1) & (dx < width[i])) | ((dx < 1) & (dy < width[i]))
        else:
            shape = dy ** 2 + dx ** 2 < width[i] ** 2
        images[i, ..., 0] = shape * rng.uniform(0.6, 1.0) + rng.normal(0, 0.1, (SIDE, SIDE))
    measured = (rng.random(n) < 0.5).astype("float32")
    return images, kind, width, measured


def batches(seed):
    rng = np.random.default_rng(seed)
    while True:
        images, kind, width, measured = draw(BATCH, rng)
        targets = {"kind": kind[:, None], "width": np.where(measured, width, 0.0)[:, None]}
        weights = {"kind": np.where(kind > 0, 8.0, 0.55).astype("float32"), "width": measured}
        yield images, targets, weights


inputs = keras.Input((SIDE, SIDE, 1))
x = layers.Conv2D(16, 3, activation="relu")(inputs)
x = layers.Conv2D(24, 3, strides=2, activation="relu")(x)
x = layers.Flatten()(x)
x = layers.Dense(48, activation="relu")(x)
kind = layers.Dense(1, activation="sigmoid", name="kind")(x)
width = layers.Dense(1, activation="softplus", name="width")(x)
model = keras.Model(inputs, {"kind": kind, "width": width})

model.compile(
    optimizer=keras.optimizers.RMSprop(1e-3),
    loss={"kind": keras.losses.BinaryCrossentropy(label_smoothing=0.02), "width": "mae"},
    loss_weights={"kind": 1.0, "width": 0.5},
    metrics={"kind": [keras.metrics.AUC(curve="PR", name="pr")]},
    weighted_metrics={"width": ["mae"]},
)

vx, vk, vw, _ = draw(1200, np.random.default_rng(99))
callbacks = [
    keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=2),
    keras.callbacks.EarlyStopping(monitor="val_loss", patience=5, restore_best_weights=True),
]
model.fit(batches(1), steps_per_epoch=60, epochs=14, verbose=2, callbacks=callbacks,
          validation_data=(vx, {"kind": vk[:, None], "width": vw[:, None]}))

out = model.predict(vx, verbose=0)
found = out["kind"][:, 0] > 0.5
print(f"crosses {int(vk.sum())}, found {int((found & (vk > 0)).sum())}, false alarms {int((found & (vk == 0)).sum())}")
print(f"width error {np.abs(out['width'][:, 0] - vw).mean():.3f} px, constant guess {np.abs(vw - np.median(vw)).mean():.3f} px")
