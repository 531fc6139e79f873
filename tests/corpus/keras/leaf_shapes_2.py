import keras
import numpy as np
import tensorflow as tf
from keras import layers

SIZE = 20
SHAPES = ["ring", "disc", "square", "cross"]
CONFIG = {
    "train": 1600,
    "test": 400,
    "batch": 40,
    "epochs": 8,
    "lr": 1e-3,
    "seed": 17,
}


def draw(kind, rng):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    cy, cx = rng.uniform(7, 13, size=2)
    r = rng.uniform(4, 6.5)
    dist = np.hypot(yy - cy, xx - cx)
    dy, dx = np.abs(yy - cy), np.abs(xx - cx)
    if kind == 0:
        img = np.abs(dist - r) < 1.2
    elif kind == 1:
        img = dist < r
    elif kind == 2:
        img = np.maximum(dy, dx) < r * 0.9
    else:
        img = (np.minimum(dy, dx) < 1.3) & (np.maximum(dy, dx) < r)
    return img * rng.uniform(0.6, 1.0) + 0.15 * rng.normal(size=(SIZE, SIZE))


def render_all(n, rng):
    kinds = rng.integers(0, len(SHAPES), size=n)
    images = np.stack([draw(k, rng) for k in kinds])[..., None]
    return images.astype("float32"), kinds.astype("int32")


def jitter(image):
    image = tf.image.random_flip_left_right(image)
    return tf.image.random_brightness(image, 0.1)


def training_pipeline(images, kinds, cfg):
    pictures = tf.data.Dataset.from_tensor_slices(images)
    pictures = pictures.shuffle(len(images), seed=cfg["seed"])
    pictures = pictures.map(jitter, num_parallel_calls=tf.data.AUTOTUNE)
    targets = tf.data.Dataset.from_tensor_slices(kinds)
    targets = targets.shuffle(len(kinds), seed=cfg["seed"] + 1)
    both = tf.data.Dataset.zip((pictures, targets))
    return both.batch(cfg["batch"]).prefetch(tf.data.AUTOTUNE)


def build(cfg):
    model = keras.Sequential([
        keras.Input((SIZE, SIZE, 1)),
        layers.Conv2D(16, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dense(len(SHAPES), activation="softmax"),
    ])
    model.compile(
        keras.optimizers.Adam(cfg["lr"]),
        loss="sparse_categorical_crossentropy",
        metrics=["sparse_categorical_accuracy"],
    )
    return model


rng = np.random.default_rng(CONFIG["seed"])
keras.utils.set_random_seed(CONFIG["seed"])
x_train, y_train = render_all(CONFIG["train"], rng)
x_test, y_test = render_all(CONFIG["test"], rng)

model = build(CONFIG)
history = model.fit(
    training_pipeline(x_train, y_train, CONFIG),
    validation_data=(x_test, y_test),
    epochs=CONFIG["epochs"],
    verbose=2,
)
loss, acc = model.evaluate(x_test, y_test, verbose=0)
print(f"train loss {history.history['loss'][-1]:.4f}")
print(f"test loss {loss:.4f}  test accuracy {acc:.4f}  chance {1 / len(SHAPES):.2f}")
