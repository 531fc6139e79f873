import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(12)


def make_teacher():
    return keras.Sequential([
        keras.Input((8, 8, 1)),
        layers.Conv2D(24, 3, activation="relu", padding="same"),
        layers.MaxPooling2D(),
        layers.Conv2D(48, 3, activation="relu"),
        layers.Flatten(),
        layers.Dropout(0.3),
        layers.Dense(10),
    ], name="teacher")


def make_pupil():
    return keras.Sequential([
        keras.Input((8, 8, 1)),
        layers.Flatten(),
        layers.Dense(24, activation="relu"),
        layers.Dense(10),
    ], name="pupil")


class Distiller(keras.Model):
    def __init__(self, teacher, pupil, temperature=3.0, alpha=0.8):
        super().__init__()
        self.teacher, self.pupil = teacher, pupil
        self.teacher.trainable = False
        self.temperature, self.alpha = temperature, alpha
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.acc = keras.metrics.SparseCategoricalAccuracy(name="acc")

    @property
    def metrics(self):
        return [self.loss_tracker, self.acc]

    def call(self, x, training=False):
        return self.pupil(x, training=training)

    def train_step(self, data):
        x, y = data
        t = self.temperature
        soft = ops.softmax(self.teacher(x, training=False) / t)
        with tf.GradientTape() as tape:
            logits = self.pupil(x, training=True)
            hard = ops.mean(keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=True))
            match = ops.mean(keras.losses.categorical_crossentropy(soft, logits / t, from_logits=True))
            loss = (1 - self.alpha) * hard + self.alpha * t * t * match
        grads = tape.gradient(loss, self.pupil.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.pupil.trainable_variables))
        self.loss_tracker.update_state(loss)
        self.acc.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        self.acc.update_state(y, self.pupil(x, training=False))
        return {"acc": self.acc.result()}


def main():
    d = load_digits()
    x = (d.images / 16.0 - 0.3).astype("float32")[..., None]
    x_tr, x_te, y_tr, y_te = train_test_split(x, d.target, test_size=0.3, random_state=2)

    teacher = make_teacher()
    teacher.compile(optimizer="adam", metrics=["accuracy"],
                    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    teacher.fit(x_tr, y_tr, epochs=12, batch_size=32, verbose=0)
    print(f"teacher test accuracy {teacher.evaluate(x_te, y_te, verbose=0)[1]:.3f}")

    distiller = Distiller(teacher, make_pupil())
    distiller.compile(optimizer=keras.optimizers.Adam(3e-3))
    hist = distiller.fit(x_tr, y_tr, validation_data=(x_te, y_te), epochs=15, batch_size=32, verbose=2)
    pred = distiller.predict(x_te, verbose=0).argmax(1)
    print(f"final loss {hist.history['loss'][-1]:.3f}")
    print(f"pupil test accuracy {(pred == y_te).mean():.3f}")


if __name__ == "__main__":
    main()
