"""Recognise activities from accelerometer windows; evaluation goes volunteer by volunteer."""
import numpy as np
import tensorflow as tf
from tensorflow import keras

ACTIONS = ["walk", "stairs", "cycle", "stand"]
WINDOW = 64


class Volunteers:
    """Simulated recordings. Some people move much less cleanly than others."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def window(self, label, sloppiness):
        t = np.arange(WINDOW) / 32.0
        freq = [1.9, 1.5, 1.2, 0.0][label] + 0.12 * self.rng.normal()
        amp = np.array([[1.0, 0.5, 0.3], [0.8, 0.9, 0.3], [0.4, 0.4, 0.8], [0.05, 0.05, 0.05]][label])
        phase = self.rng.uniform(0, 2 * np.pi)
        base = np.sin(2 * np.pi * freq * t + phase)[:, None] * amp
        base = base + 0.3 * np.sin(4 * np.pi * freq * t + phase)[:, None] * amp[::-1]
        return base + sloppiness * self.rng.normal(size=(WINDOW, 3))

    def record(self, n, sloppiness):
        y = self.rng.integers(0, len(ACTIONS), n)
        x = np.stack([self.window(k, sloppiness) for k in y])
        return x.astype("float32"), y.astype("int32")


def stack(parts):
    return tuple(np.concatenate(p) for p in zip(*parts))


class Trainer:
    def __init__(self, lr=2e-3):
        self.model = keras.Sequential(
            [
                keras.Input((WINDOW, 3)),
                keras.layers.Conv1D(24, 7, strides=2, activation="relu"),
                keras.layers.Conv1D(32, 5, strides=2, activation="relu"),
                keras.layers.GlobalAveragePooling1D(),
                keras.layers.Dense(32, activation="relu"),
                keras.layers.Dense(len(ACTIONS)),
            ]
        )
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.opt = keras.optimizers.Adam(lr)
        self.train_acc = keras.metrics.SparseCategoricalAccuracy()
        self.val_acc = keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def train_batch(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.model(x, training=True)
            loss = self.loss_fn(y, logits)
        grads = tape.gradient(loss, self.model.trainable_weights)
        self.opt.apply_gradients(zip(grads, self.model.trainable_weights))
        self.train_acc.update_state(y, logits)
        return loss

    @tf.function
    def predict_batch(self, x):
        return self.model(x, training=False)

    def validate(self, ds):
        self.val_acc.reset_state()
        for x, y in ds:
            self.val_acc.update_state(y, self.predict_batch(x))
        return float(self.val_acc.result())

    def fit(self, train, val, epochs):
        for epoch in range(1, epochs + 1):
            self.train_acc.reset_state()
            losses = [self.train_batch(x, y) for x, y in train]
            print(
                f"[{epoch:02d}] loss {np.mean(losses):.4f} "
                f"train acc {float(self.train_acc.result()):.4f} val acc {self.validate(val):.4f}"
            )


if __name__ == "__main__":
    keras.utils.set_random_seed(2)
    people = Volunteers(2)
    levels = [0.2, 0.4, 0.7, 1.0, 1.3, 1.6, 2.0, 2.6]
    x_tr, y_tr = stack([people.record(450, s) for s in levels])
    x_va, y_va = stack([people.record(128, s) for s in reversed(levels)])
    train_ds = tf.data.Dataset.from_tensor_slices((x_tr, y_tr)).shuffle(len(x_tr)).batch(50)
    val_ds = tf.data.Dataset.from_tensor_slices((x_va, y_va)).batch(128)
    trainer = Trainer()
    trainer.fit(train_ds, val_ds, epochs=20)
    print("validation accuracy for the report:", round(trainer.validate(val_ds), 4))
