"""A small net for a wristband learns from a larger one; its probabilities decide when the band asks again."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

GESTURES = 8
STEPS, AXES = 40, 3
keras.utils.set_random_seed(17)
rng = np.random.default_rng(17)
proto = rng.normal(size=(GESTURES, 4, AXES))


def swings(n):
    y = rng.integers(0, GESTURES, n)
    t = np.linspace(0, 1, STEPS)[None, :, None]
    x = np.zeros((n, STEPS, AXES))
    for k in range(4):
        amp = proto[y, k][:, None, :] + 0.55 * rng.normal(size=(n, 1, AXES))
        x += amp * np.sin(np.pi * (k + 1) * t)
    return (x + 0.5 * rng.normal(size=x.shape)).astype("float32"), y


def big():
    return keras.Sequential([
        layers.Input((STEPS, AXES)),
        layers.Conv1D(48, 5, activation="relu", padding="same"),
        layers.MaxPooling1D(2),
        layers.Conv1D(64, 5, activation="relu", padding="same"),
        layers.Flatten(),
        layers.Dropout(0.3),
        layers.Dense(96, activation="relu"),
        layers.Dense(GESTURES),
    ])


def small():
    return keras.Sequential([
        layers.Input((STEPS, AXES)),
        layers.Conv1D(8, 5, strides=2, activation="relu", padding="same"),
        layers.Flatten(),
        layers.Dense(24, activation="relu"),
        layers.Dense(GESTURES),
    ])


class Distiller(keras.Model):
    def __init__(self, teacher, student, temperature=6.0, hard=0.05):
        super().__init__()
        self.teacher, self.student = teacher, student
        self.teacher.trainable = False
        self.temperature, self.hard = temperature, hard
        self.kl = keras.losses.KLDivergence()
        self.ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def call(self, x, training=False):
        return self.student(x, training=training)

    def train_step(self, data):
        x, y = data
        guide = self.teacher(x, training=False)
        with tf.GradientTape() as tape:
            logits = self.student(x, training=True)
            soft = self.kl(
                tf.nn.softmax(guide / self.temperature),
                tf.nn.softmax(logits),
            ) * self.temperature**2
            loss = self.hard * self.ce(y, logits) + (1 - self.hard) * soft
        w = self.student.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, w), w))
        return {"soft": soft, "loss": loss}


def report(name, net, x, y):
    p = tf.nn.softmax(net.predict(x, verbose=0)).numpy()
    nll = -np.log(p[np.arange(len(y)), y] + 1e-9).mean()
    sure = p.max(1) > 0.8
    print(f"{name:8s} accuracy {(p.argmax(1) == y).mean():.3f}  log loss {nll:.3f}  mean confidence {p.max(1).mean():.3f}"
          f"  answered at once {sure.mean():.3f}")


x_tr, y_tr = swings(3000)
x_te, y_te = swings(1500)
teacher = big()
teacher.compile(optimizer=keras.optimizers.Adam(1e-3),
                loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
teacher.fit(x_tr, y_tr, epochs=6, batch_size=64, verbose=2)
report("teacher", teacher, x_te, y_te)

student = small()
distiller = Distiller(teacher, student)
distiller.compile(optimizer=keras.optimizers.Adam(2e-3))
distiller.fit(x_tr, y_tr, epochs=20, batch_size=64, verbose=2)
report("student", student, x_te, y_te)
