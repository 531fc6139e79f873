"""Distil a convolutional teacher into a small MLP on an unlabelled transfer set (Hinton et al., 2015)."""
import os

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SEED = 21
CLASSES = 5
SIDE = 16
TEMPERATURE = 3.0

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def fish(kind):
    """A 16x16 silhouette: the classes differ in body, fin and tail."""
    yy, xx = np.mgrid[0:SIDE, 0:SIDE].astype("float32")
    cy, cx = rng.uniform(6.5, 8.5, 2)
    a, b = [(6, 2), (4, 4), (5, 3), (6, 2), (4, 4)][kind]
    body = ((xx - cx) / a) ** 2 + ((yy - cy) / b) ** 2 < 1
    image = body.astype("float32") * rng.uniform(0.6, 1.0)
    if kind in (2, 3):
        image[:, -3:] += 0.6
    if kind in (3, 4):
        image[:3, 5:11] += 0.6
    return image + rng.normal(0, 0.25, image.shape)


def dataset(n):
    y = rng.integers(0, CLASSES, n)
    x = np.stack([fish(k) for k in y]).astype("float32")[..., None]
    return x, y


x_teach, y_teach = dataset(1200)
x_transfer, _ = dataset(2400)
x_test, y_test = dataset(600)

teacher = keras.Sequential(
    [
        keras.Input((SIDE, SIDE, 1)),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(CLASSES),
    ],
    name="teacher",
)
teacher.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
teacher.fit(x_teach, y_teach, batch_size=32, epochs=5, verbose=0)
print("teacher accuracy", round(teacher.evaluate(x_test, y_test, verbose=0)[1], 3))

student = keras.Sequential(
    [
        keras.Input((SIDE, SIDE, 1)),
        layers.Flatten(),
        layers.Dense(24, activation="relu"),
        layers.Dense(CLASSES),
    ],
    name="student",
)


class Distiller(keras.Model):
    def __init__(self, student, teacher, temperature):
        super().__init__()
        self.student = student
        self.teacher = teacher
        self.teacher.trainable = False
        self.temperature = temperature
        self.divergence = keras.losses.KLDivergence()
        self.loss_tracker = keras.metrics.Mean(name="kd")
        self.agreement = keras.metrics.Accuracy(name="agreement")

    @property
    def metrics(self):
        return [self.loss_tracker, self.agreement]

    def call(self, x, training=None):
        return self.student(x, training=training)

    def train_step(self, data):
        x = data
        soft_targets = tf.nn.softmax(self.teacher(x, training=False) / self.temperature)
        with tf.GradientTape() as tape:
            logits = self.student(x, training=True)
            guesses = logits / self.temperature
            loss = self.temperature**2 * self.divergence(soft_targets, guesses)
        variables = self.student.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        self.loss_tracker.update_state(loss)
        self.agreement.update_state(tf.argmax(soft_targets, -1), tf.argmax(logits, -1))
        return {m.name: m.result() for m in self.metrics}


def accuracy(model):
    return float((model.predict(x_test, verbose=0).argmax(-1) == y_test).mean())


print("student before", round(accuracy(student), 3))
distiller = Distiller(student, teacher, TEMPERATURE)
distiller.compile(optimizer=keras.optimizers.Adam(2e-3))
pool = tf.data.Dataset.from_tensor_slices(x_transfer).shuffle(2400, seed=SEED).batch(48)
distiller.fit(pool, epochs=12, verbose=2)
print("student after", round(accuracy(student), 3))
