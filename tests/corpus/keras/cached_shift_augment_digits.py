# digits with a tf.data input pipeline: parse -> cache -> shuffle -> random augmentation -> batch
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(7)
AUTO = tf.data.AUTOTUNE

images, labels = load_digits(return_X_y=True)
images = images.reshape(-1, 8, 8, 1)
x_train, x_test, y_train, y_test = train_test_split(images, labels, test_size=0.6, stratify=labels, random_state=7)
x_train, x_val, y_train, y_val = train_test_split(x_train, y_train, test_size=0.2, stratify=y_train, random_state=7)
print("train", len(x_train), "val", len(x_val), "test", len(x_test))


def decode(img, label):
    """The slow part: scale and upsample to 16x16 (same result each time, so it may be cached)."""
    img = tf.cast(img, tf.float32) / 16.0
    return tf.clip_by_value(tf.image.resize(img, (16, 16), method="bicubic"), 0.0, 1.0), label


def augment(img, label):
    img = tf.image.resize_with_crop_or_pad(img, 20, 20)
    img = tf.image.random_crop(img, (16, 16, 1))
    img = tf.image.random_brightness(img, 0.15)
    img += tf.random.normal(tf.shape(img), stddev=0.05)
    return img, label


def pipeline(x, y, training):
    ds = tf.data.Dataset.from_tensor_slices((x, y)).map(decode, num_parallel_calls=AUTO).cache()
    if training:
        ds = ds.shuffle(len(x), reshuffle_each_iteration=True).map(augment, num_parallel_calls=AUTO)
    return ds.batch(32).prefetch(AUTO)


train_ds = pipeline(x_train, y_train, True)
val_ds = pipeline(x_val, y_val, False)
test_ds = pipeline(x_test, y_test, False)

model = keras.Sequential([
    keras.Input((16, 16, 1)),
    layers.Conv2D(16, 3, padding="same", activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(32, 3, padding="same", activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(48, 3, padding="same", activation="relu"),
    layers.GlobalMaxPooling2D(),
    layers.Dense(10, activation="softmax"),
])
model.compile(
    optimizer=keras.optimizers.Nadam(2e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)


class Brief(keras.callbacks.Callback):
    """One line each five epochs instead of the progress bar."""

    def on_epoch_end(self, epoch, logs=None):
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1:2d} " + " ".join(f"{k} {v:.4f}" for k, v in logs.items()))


model.fit(
    train_ds,
    validation_data=val_ds,
    epochs=30,
    verbose=0,
    callbacks=[Brief(), keras.callbacks.ReduceLROnPlateau(patience=5, factor=0.5, min_lr=1e-4)],
)
loss, acc = model.evaluate(test_ds, verbose=0)
print(f"test accuracy {acc:.4f} loss {loss:.4f} (chance about 0.10)")
