import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

CONFIG = {
    "batch_size": 64,
    "epochs": 12,
    "lr": 2e-3,
    "buffer": 1024,
    "seed": 42,
}


def augment(image, label):
    image = tf.image.resize_with_crop_or_pad(image, 10, 10)
    image = tf.image.random_crop(image, (8, 8, 1))
    return image, label


def make_train_ds(images, labels, cfg):
    image_ds = tf.data.Dataset.from_tensor_slices(images).shuffle(cfg["buffer"])
    label_ds = tf.data.Dataset.from_tensor_slices(labels).shuffle(cfg["buffer"])
    ds = tf.data.Dataset.zip((image_ds, label_ds))
    ds = ds.map(augment, num_parallel_calls=2)
    return ds.batch(cfg["batch_size"]).prefetch(1)


def make_eval_ds(images, labels, cfg):
    ds = tf.data.Dataset.from_tensor_slices((images, labels))
    return ds.batch(cfg["batch_size"])


def make_model(cfg):
    model = keras.Sequential([
        keras.Input((8, 8, 1)),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.BatchNormalization(),
        layers.MaxPooling2D(),
        layers.Conv2D(48, 3, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dropout(0.2),
        layers.Dense(10, activation="softmax"),
    ])
    model.compile(
        optimizer=keras.optimizers.Adam(cfg["lr"]),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model


def main(cfg):
    keras.utils.set_random_seed(cfg["seed"])
    digits = load_digits()
    images = (digits.images / 16.0).astype("float32")[..., None]
    labels = digits.target.astype("int64")
    x_tr, x_te, y_tr, y_te = train_test_split(
        images, labels, test_size=0.25, random_state=cfg["seed"], stratify=labels
    )
    train_ds = make_train_ds(x_tr, y_tr, cfg)
    test_ds = make_eval_ds(x_te, y_te, cfg)
    model = make_model(cfg)
    model.fit(
        train_ds,
        validation_data=test_ds,
        epochs=cfg["epochs"],
        callbacks=[keras.callbacks.ReduceLROnPlateau(monitor="loss", patience=3)],
        verbose=2,
    )
    loss, acc = model.evaluate(test_ds, verbose=0)
    print(f"test loss {loss:.4f}, test accuracy {acc:.4f}")


main(CONFIG)
