import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras as K

K.utils.set_random_seed(8)
SIZE, CLASSES = 24, 4


def draw(kind, rng):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    cy, cx = rng.uniform(9, 15, 2)
    r = rng.uniform(5, 8)
    dy, dx = yy - cy, xx - cx
    if kind == 0:      # round
        m = dy ** 2 + dx ** 2 < r ** 2
    elif kind == 1:    # long and thin
        a = rng.uniform(0, np.pi)
        u, v = dx * np.cos(a) + dy * np.sin(a), -dx * np.sin(a) + dy * np.cos(a)
        m = (u / 1.5 / r) ** 2 + (v / 0.35 / r) ** 2 < 1
    elif kind == 2:    # lobed
        ang = np.arctan2(dy, dx)
        m = np.hypot(dy, dx) < r * (0.8 + 0.4 * np.cos(5 * ang + rng.uniform(0, 6)))
    else:              # diamond
        m = np.abs(dy) + np.abs(dx) < r * 1.2
    img = np.empty((SIZE, SIZE, 3))
    img[:] = rng.uniform(120, 200)
    img[m] = np.array([rng.uniform(20, 90), rng.uniform(70, 160), rng.uniform(10, 60)])
    img += rng.normal(0, 18, img.shape)
    return np.clip(img, 0, 255).astype("uint8")


def collect(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, CLASSES, n)
    return np.stack([draw(k, rng) for k in y]), y.astype("int64")


def prepare(img, label):
    return tf.cast(img, tf.float32) / 127.5 - 1.0, label


def augment(img, label):
    img = tf.image.random_flip_left_right(img)
    img = tf.image.random_flip_up_down(img)
    return tf.image.random_brightness(img, 0.15), label


def build():
    inp = K.Input((SIZE, SIZE, 3))
    x = inp
    for width in (16, 32):
        x = K.layers.Conv2D(width, 3, padding="same")(x)
        x = K.layers.BatchNormalization(momentum=0.9)(x)
        x = K.layers.ReLU()(x)
        x = K.layers.MaxPooling2D()(x)
    x = K.layers.Conv2D(48, 3, activation="relu")(x)
    x = K.layers.Flatten()(x)
    x = K.layers.Dropout(0.3)(x)
    return K.Model(inp, K.layers.Dense(CLASSES, activation="softmax")(x))


if __name__ == "__main__":
    xtr, ytr = collect(2400, 1)
    xva, yva = collect(500, 2)
    train = (tf.data.Dataset.from_tensor_slices((xtr, ytr))
             .shuffle(2400, seed=3).map(prepare).map(augment).batch(48).prefetch(1))
    valid = tf.data.Dataset.from_tensor_slices((xva, yva)).batch(100)
    model = build()
    model.compile(K.optimizers.Adam(1e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
    hist = model.fit(train, validation_data=valid, epochs=8, verbose=2)
    print("final train acc %.3f, valid acc %.3f" % (hist.history["accuracy"][-1], hist.history["val_accuracy"][-1]))
