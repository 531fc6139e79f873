"""Compress a seed-sorting classifier: a wide teacher, a narrow student, custom train_step."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)

K, D = 8, 24
basis = rng.normal(size=(K, 2, D))


def seeds(n):
    y = rng.integers(0, K, n)
    mode = rng.integers(0, 2, n)
    x = basis[y, mode] * 1.1 + rng.normal(size=(n, D)) * 1.1
    return x.astype("float32"), y.astype("int32")


x_train, y_train = seeds(6000)
x_test, y_test = seeds(3000)


def mlp(width, depth, name):
    stack = [keras.Input((D,))]
    for _ in range(depth):
        stack.append(layers.Dense(width, activation="relu"))
    stack.append(layers.Dense(K))
    return keras.Sequential(stack, name=name)


class Distiller(keras.Model):
    def __init__(self, student, teacher, alpha=0.2, temperature=5.0):
        super().__init__()
        self.student = student
        self.teacher = teacher
        self.teacher.trainable = False
        self.alpha = alpha
        self.temperature = temperature
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.acc = keras.metrics.SparseCategoricalAccuracy(name="acc")

    @property
    def metrics(self):
        return [self.loss_tracker, self.acc]

    def call(self, x, training=False):
        return self.student(x, training=training)

    def train_step(self, data):
        x, y = data
        t_logits = self.teacher(x, training=False)
        with tf.GradientTape() as tape:
            s_logits = self.student(x, training=True)
            hard = ops.mean(
                keras.losses.sparse_categorical_crossentropy(y, s_logits, from_logits=True)
            )
            p = ops.softmax(t_logits / self.temperature)
            logq = ops.log_softmax(s_logits / self.temperature)
            soft = -ops.mean(ops.sum(p * logq, axis=-1)) * self.temperature**2
            loss = self.alpha * hard + (1.0 - self.alpha) * soft
        weights = self.student.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        self.loss_tracker.update_state(loss)
        self.acc.update_state(y, s_logits)
        return {m.name: m.result() for m in self.metrics}


def report(name, model):
    logits = model.predict(x_test, verbose=0, batch_size=512)
    prob = np.exp(logits - logits.max(1, keepdims=True))
    prob /= prob.sum(1, keepdims=True)
    conf, hit = prob.max(1), prob.argmax(1) == y_test
    nll = -np.log(prob[np.arange(len(y_test)), y_test] + 1e-9).mean()
    print(
        f"{name:8s} acc {hit.mean():.3f}  nll {nll:.3f}  mean confidence {conf.mean():.3f}  "
        f"auto-sorted (p > 0.8) {np.mean(conf > 0.8):.3f}"
    )


teacher = mlp(192, 2, "teacher")
teacher.compile(
    optimizer=keras.optimizers.AdamW(1e-3, weight_decay=0.02),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
teacher.fit(x_train, y_train, epochs=8, batch_size=64, verbose=2)
report("teacher", teacher)

student = mlp(24, 1, "student")
distiller = Distiller(student, teacher)
distiller.compile(optimizer=keras.optimizers.Adam(2e-3))
distiller.fit(x_train, y_train, epochs=20, batch_size=64, verbose=2)
report("student", student)
