# Traffic sign crops -> 6 sign families (colour x outline). Records are stored like the CIFAR binaries:
# one byte of label, then the red plane, the green plane, the blue plane.
import numpy as np
import keras
from keras import layers

SIDE = 24
FAMILIES = ["red disc", "red triangle", "red square", "blue disc", "blue triangle", "blue square"]
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)


def draw(kind):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    r = rng.uniform(4, 7)
    cy, cx = rng.uniform(r, SIDE - r, 2)
    outline = kind % 3
    if outline == 0:
        inside = (yy - cy) ** 2 + (xx - cx) ** 2 < r * r
    elif outline == 1:
        inside = (yy < cy + 0.8 * r) & (yy - (cy - r) > 1.8 * np.abs(xx - cx))
    else:
        inside = (np.abs(yy - cy) < 0.9 * r) & (np.abs(xx - cx) < 0.9 * r)
    back = rng.uniform(60, 160, 3)
    front = np.array([200, 40, 50]) if kind < 3 else np.array([40, 60, 200])
    img = np.where(inside[None], front[:, None, None], back[:, None, None]) + rng.normal(0, 28, (3, SIDE, SIDE))
    return np.clip(img, 0, 255).astype("uint8")


def write_records(n):
    rows = []
    for _ in range(n):
        k = int(rng.integers(6))
        rows.append(np.concatenate([[k], draw(k).ravel()]).astype("uint8"))
    return np.stack(rows).tobytes()


def read_records(blob):
    raw = np.frombuffer(blob, dtype="uint8").reshape(-1, 1 + 3 * SIDE * SIDE)
    labels = raw[:, 0].astype("int64")
    images = raw[:, 1:].reshape(-1, SIDE, SIDE, 3)
    return images.astype("float32") / 255.0, labels


x_train, y_train = read_records(write_records(1500))
x_test, y_test = read_records(write_records(800))

inp = keras.Input((SIDE, SIDE, 3))
h = layers.Rescaling(2.0, offset=-1.0)(inp)
for width in (16, 32, 48):
    h = layers.Conv2D(width, 3, padding="same", activation="relu")(h)
    h = layers.MaxPooling2D()(h)
h = layers.GlobalAveragePooling2D()(h)
out = layers.Dense(len(FAMILIES), activation="softmax")(h)
model = keras.Model(inp, out)

model.compile(optimizer=keras.optimizers.Adam(4e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, validation_split=0.1, epochs=20, batch_size=48, verbose=2)
loss, acc = model.evaluate(x_test, y_test, verbose=0)
print(f"test loss {loss:.3f} accuracy {acc:.3f}")
for k, name in enumerate(FAMILIES):
    sel = y_test == k
    hit = (model.predict(x_test[sel], verbose=0).argmax(1) == k).mean()
    print(f"  {name:14s} {hit:.2f}")
