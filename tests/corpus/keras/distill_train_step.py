import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

TEMPERATURE = 4.0


def conv_teacher():
    return keras.Sequential([
        layers.Input((8, 8, 1)),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dropout(0.3),
        layers.Dense(10),
    ], name="teacher")


def tiny_student():
    return keras.Sequential([
        layers.Input((8, 8, 1)),
        layers.Flatten(),
        layers.Dense(24, activation="relu"),
        layers.Dense(10),
    ], name="student")


class Distiller(keras.Model):
    def __init__(self, teacher, student):
        super().__init__()
        self.teacher = teacher
        self.teacher.trainable = False
        self.student = student
        self.kd = keras.metrics.Mean(name="kd")
        self.acc = keras.metrics.SparseCategoricalAccuracy(name="accuracy")

    @property
    def metrics(self):
        return [self.kd, self.acc]

    def call(self, x, training=False):
        return self.student(x, training=training)

    def train_step(self, data):
        x, y = data
        soft = tf.nn.softmax(self.teacher(x, training=False) / TEMPERATURE)
        with tf.GradientTape() as tape:
            logits = self.student(x, training=True)
            ce = tf.nn.softmax_cross_entropy_with_logits(tf.stop_gradient(soft),
                                                         logits / TEMPERATURE)
            loss = tf.reduce_mean(ce) * TEMPERATURE ** 2
        grads = tape.gradient(loss, self.student.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.student.trainable_variables))
        self.kd.update_state(loss)
        self.acc.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        self.acc.update_state(y, self.student(x, training=False))
        return {"accuracy": self.acc.result()}


def main():
    keras.utils.set_random_seed(40)
    digits = load_digits()
    x = (digits.images / 16.0).astype("float32")[..., None]
    x_tr, x_te, y_tr, y_te = train_test_split(x, digits.target, test_size=0.3, random_state=3)

    teacher = conv_teacher()
    teacher.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                    metrics=["accuracy"])
    teacher.fit(x_tr, y_tr, epochs=12, batch_size=32, verbose=0)
    print("teacher accuracy", round(teacher.evaluate(x_te, y_te, verbose=0)[1], 4))

    distiller = Distiller(teacher, tiny_student())
    distiller.compile(optimizer=keras.optimizers.Adam(3e-3))
    distiller.fit(x_tr, y_tr, epochs=20, batch_size=32, verbose=2)
    pred = distiller.student.predict(x_te, verbose=0).argmax(-1)
    print("student accuracy", round(float((pred == y_te).mean()), 4))


if __name__ == "__main__":
    main()
