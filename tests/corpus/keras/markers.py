"""Find out which marker is on a picture and how far it sits from the left edge."""
import numpy as np
import keras
from keras import layers
from sklearn.preprocessing import StandardScaler

keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)
SIZE = 24


def draw(kind, cx, cy):
    img = rng.normal(0.1, 0.05, (SIZE, SIZE))
    yy, xx = np.mgrid[:SIZE, :SIZE]
    if kind == 0:                                    # square
        img[(abs(xx - cx) <= 3) & (abs(yy - cy) <= 3)] += 0.8
    elif kind == 1:                                  # cross
        img[((abs(xx - cx) <= 1) & (abs(yy - cy) <= 3)) | ((abs(yy - cy) <= 1) & (abs(xx - cx) <= 3))] += 0.8
    else:                                            # ring
        r = np.hypot(xx - cx, yy - cy)
        img[(r > 2) & (r < 4)] += 0.8
    return img


n = 1500
kinds = rng.integers(0, 3, n)
xs, ys = rng.integers(4, 20, n), rng.integers(4, 20, n)
images = np.stack([draw(k, a, b) for k, a, b in zip(kinds, xs, ys)]).astype("float32")[..., None]
scaler = StandardScaler()
offset = scaler.fit_transform(xs[:, None].astype("float32"))

inputs = keras.Input((SIZE, SIZE, 1))
h = layers.Conv2D(16, 3, padding="same", activation="relu")(inputs)
h = layers.MaxPooling2D()(h)
h = layers.Conv2D(32, 3, padding="same", activation="relu")(h)
h = layers.MaxPooling2D()(h)
h = layers.Flatten()(h)
h = layers.Dense(64, activation="relu")(h)
kind_out = layers.Dense(3, activation="softmax", name="kind")(h)
offset_out = layers.Dense(1, activation="relu", name="offset")(h)
model = keras.Model(inputs, {"kind": kind_out, "offset": offset_out})

model.compile(
    optimizer="adam",
    loss={"kind": "sparse_categorical_crossentropy", "offset": "mse"},
    metrics={"kind": ["accuracy"], "offset": ["mae"]},
)
targets = {"kind": kinds, "offset": offset}
model.fit(images[:1200], {k: v[:1200] for k, v in targets.items()}, batch_size=32, epochs=8,
          validation_split=0.1, callbacks=[keras.callbacks.ReduceLROnPlateau(patience=2)], verbose=2)

pred = model.predict(images[1200:], verbose=0)
pixels = scaler.inverse_transform(pred["offset"])[:, 0]
print("kind accuracy :", (pred["kind"].argmax(-1) == kinds[1200:]).mean().round(3))
print("offset error  :", np.abs(pixels - xs[1200:]).mean().round(2), "pixels")
print("some offsets  :", list(zip(pixels[:6].round(1), xs[1200:1206])))
