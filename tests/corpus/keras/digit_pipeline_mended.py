import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
from dataclasses import dataclass

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


@dataclass
class Config:
    batch: int = 64
    epochs: int = 12
    base_lr: float = 2e-3
    shift: int = 1
    seed: int = 11


def load():
    d = load_digits()
    images = (d.images / 16.0).astype("float32")[..., None]
    return train_test_split(images, d.target.astype("int32"), test_size=0.25,
                            stratify=d.target, random_state=0)


def jitter(shift):
    def fn(img):
        img = tf.pad(img, [[shift, shift], [shift, shift], [0, 0]])
        img = tf.image.random_crop(img, (8, 8, 1))
        return img + tf.random.normal(tf.shape(img), stddev=0.05)
    return fn


def training_set(x, y, cfg):
    images = tf.data.Dataset.from_tensor_slices(x).shuffle(len(x), seed=cfg.seed)
    images = images.map(jitter(cfg.shift), num_parallel_calls=1)
    labels = tf.data.Dataset.from_tensor_slices(y).shuffle(len(x), seed=cfg.seed)
    return tf.data.Dataset.zip((images, labels)).batch(cfg.batch).prefetch(2)


def validation_set(x, y, cfg):
    return tf.data.Dataset.from_tensor_slices((x, y)).batch(cfg.batch)


def convnet(cfg, steps):
    schedule = keras.optimizers.schedules.CosineDecay(cfg.base_lr, decay_steps=steps, alpha=0.05)
    net = keras.Sequential([
        keras.Input((8, 8, 1)),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(48, 3, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dropout(0.1),
        layers.Dense(10),
    ])
    net.compile(optimizer=keras.optimizers.Adam(schedule),
                loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                metrics=["accuracy"])
    return net


def main():
    cfg = Config()
    keras.utils.set_random_seed(cfg.seed)
    x_train, x_val, y_train, y_val = load()
    train = training_set(x_train, y_train, cfg)
    val = validation_set(x_val, y_val, cfg)
    steps = cfg.epochs * int(np.ceil(len(x_train) / cfg.batch))
    net = convnet(cfg, steps)
    hist = net.fit(train, validation_data=val, epochs=cfg.epochs, verbose=2)
    loss, acc = net.evaluate(val, verbose=0)
    print(f"train accuracy {hist.history['accuracy'][-1]:.3f}")
    print(f"validation loss {loss:.3f} accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
