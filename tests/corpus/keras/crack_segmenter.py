import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(71)
rng = np.random.default_rng(71)
SIDE = 24


def tiles(n):
    img = rng.normal(0.5, 0.08, (n, SIDE, SIDE))
    mask = np.zeros((n, SIDE, SIDE), "float32")
    for i in range(n):
        r, c = rng.integers(3, SIDE - 3, 2)
        dr, dc = rng.choice([-1, 0, 1], 2)
        for _ in range(rng.integers(6, 14)):
            if 0 <= r < SIDE and 0 <= c < SIDE:
                mask[i, r, c] = 1.0
            r += dr if rng.random() < 0.8 else rng.integers(-1, 2)
            c += dc if rng.random() < 0.8 else rng.integers(-1, 2)
    img = img - 0.22 * mask
    return img[..., None].astype("float32"), mask[..., None]


def segmenter():
    inp = layers.Input((SIDE, SIDE, 1))
    h = layers.Rescaling(4.0, offset=-2.0)(inp)
    h = layers.Conv2D(12, 3, padding="same", activation="relu")(h)
    h = layers.Conv2D(12, 3, padding="same", activation="relu")(h)
    out = layers.Conv2D(1, 1, activation="sigmoid")(h)
    return keras.Model(inp, out)


def dice(true, pred, cut=0.5):
    p = (pred > cut).astype("float32")
    return float(2 * (p * true).sum() / (p.sum() + true.sum() + 1e-6))


def training_callbacks():
    return [
        keras.callbacks.EarlyStopping(
            monitor="val_pixel_accuracy",
            patience=3,
            restore_best_weights=True,
        ),
        keras.callbacks.TerminateOnNaN(),
    ]


x_tr, m_tr = tiles(500)
x_va, m_va = tiles(150)
x_te, m_te = tiles(200)

model = segmenter()
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss="binary_crossentropy",
    metrics=[
        keras.metrics.BinaryAccuracy(name="pixel_accuracy"),
        keras.metrics.MeanAbsoluteError(name="mae"),
    ],
)
hist = model.fit(
    x_tr, m_tr,
    validation_data=(x_va, m_va),
    epochs=30,
    batch_size=32,
    callbacks=training_callbacks(),
    verbose=0,
)
for name in ("loss", "pixel_accuracy", "val_pixel_accuracy"):
    print(name, [round(v, 4) for v in hist.history[name]][:8])

pred = model.predict(x_te, verbose=0)
print(f"epochs run {len(hist.history['loss'])}")
print(f"pixel accuracy {((pred > 0.5) == m_te).mean():.4f}  all-background {1 - m_te.mean():.4f}")
print(f"crack dice {dice(m_te, pred):.3f}")
