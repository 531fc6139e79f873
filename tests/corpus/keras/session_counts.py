import math

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(15)
PAGES = 40
MAX_LEN = 30
TOPICS = ["sports", "travel", "cooking", "finance", "music"]


def simulate(n, rng):
    """Each visitor has any number of interests; clicks come from those topics."""
    x = np.zeros((n, MAX_LEN), "int32")
    y = np.zeros((n, len(TOPICS)), "float32")
    per_topic = PAGES // len(TOPICS)
    for i in range(n):
        likes = rng.random(len(TOPICS)) < 0.35
        y[i] = likes
        pool = list(range(1, PAGES + 1))
        clicks = list(rng.choice(pool, rng.integers(1, 4)))
        for k in np.flatnonzero(likes):
            clicks += list(1 + k * per_topic + rng.integers(0, per_topic, rng.integers(3, 6)))
        rng.shuffle(clicks)
        clicks = clicks[:MAX_LEN]
        x[i, : len(clicks)] = clicks
    return x, y


def endless(x, y, batch, rng):
    while True:
        order = rng.permutation(len(x))
        for s in range(0, len(order) - batch + 1, batch):
            rows = order[s:s + batch]
            yield x[rows], y[rows]


class WarmUp(keras.callbacks.Callback):
    def __init__(self, peak, steps):
        super().__init__()
        self.peak, self.steps, self.done = peak, steps, 0

    def on_train_batch_begin(self, batch, logs=None):
        self.done += 1
        self.model.optimizer.learning_rate = self.peak * min(1.0, self.done / self.steps)


def build():
    bias = math.log(0.35 / 0.65)
    model = keras.Sequential([
        keras.Input((MAX_LEN,), dtype="int32"),
        layers.Embedding(PAGES + 1, 16, mask_zero=True),
        layers.GlobalAveragePooling1D(),
        layers.Dense(48, activation="relu"),
        layers.Dropout(0.5),
        layers.Dense(len(TOPICS), activation="sigmoid", kernel_initializer="zeros",
                     bias_initializer=keras.initializers.Constant(bias)),
    ])
    model.compile(
        optimizer=keras.optimizers.Adam(1e-6),
        loss="binary_crossentropy",
        metrics=[keras.metrics.BinaryAccuracy(name="acc"),
                 keras.metrics.F1Score(average="macro", threshold=0.5, name="f1")],
    )
    return model


def main():
    rng = np.random.default_rng(15)
    x_tr, y_tr = simulate(2000, rng)
    x_te, y_te = simulate(500, rng)
    batch = 50
    model = build()
    print("before", np.round(model.evaluate(x_te, y_te, verbose=0), 3))
    model.fit(
        endless(x_tr, y_tr, batch, rng),
        steps_per_epoch=len(x_tr) // batch,
        epochs=12,
        validation_data=(x_te, y_te),
        callbacks=[WarmUp(5e-3, 60)],
        verbose=2,
    )
    loss, acc, f1 = model.evaluate(x_te, y_te, verbose=0)
    print(f"test loss {loss:.3f}  label accuracy {acc:.3f} (all zeros {1 - y_te.mean():.3f})  macro f1 {f1:.3f}")


if __name__ == "__main__":
    main()
