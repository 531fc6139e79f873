"""Pump condition from vibration features; pretrain on the bench, adapt on site, then run live."""
import keras
import numpy as np
from keras import layers

STATES = ["ok", "imbalance", "bearing", "cavitation"]
N_FEATURES = 24


class PumpSimulator:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.prototypes = np.random.default_rng(99).normal(0, 1.0, (len(STATES), N_FEATURES))

    def batch(self, n, gain=1.0):
        states = self.rng.integers(0, len(STATES), n)
        x = self.prototypes[states] + 1.1 * self.rng.normal(size=(n, N_FEATURES))
        x[:, :4] += 0.3 * np.sin(x[:, 4:8])
        return (gain * x).astype("float32"), states.astype("int32")


class Block(layers.Layer):
    def __init__(self, units, drop):
        super().__init__()
        self.dense = layers.Dense(units, use_bias=False)
        self.norm = layers.BatchNormalization(momentum=0.9)
        self.act = layers.Activation("relu")
        self.drop = layers.Dropout(drop)

    def call(self, h, training=False):
        h = self.act(self.norm(self.dense(h), training=training))
        return self.drop(h, training=training)


def build():
    inputs = keras.Input(shape=(N_FEATURES,))
    h = Block(64, 0.2)(inputs)
    h = Block(32, 0.1)(h)
    outputs = layers.Dense(len(STATES), activation="softmax")(h)
    return keras.Model(inputs, outputs)


def phase(model, data, lr, epochs, title):
    x, y = data
    model.compile(
        optimizer=keras.optimizers.AdamW(lr, weight_decay=1e-4),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    cut = int(0.8 * len(x))
    log = model.fit(
        x[:cut],
        y[:cut],
        validation_data=(x[cut:], y[cut:]),
        epochs=epochs,
        batch_size=64,
        verbose=0,
    ).history
    print(
        f"{title}: loss {log['loss'][0]:.3f} -> {log['loss'][-1]:.3f}  "
        f"val accuracy {log['val_accuracy'][-1]:.3f}"
    )


def live_stream(model, simulator, n):
    x, states = simulator.batch(n, gain=1.3)
    alarms = []
    for reading in x:
        p = model.predict_on_batch(reading[None, :])
        alarms.append(int(np.argmax(p[0])))
    return np.array(alarms), states


keras.utils.set_random_seed(13)
bench, site = PumpSimulator(0), PumpSimulator(1)
model = build()
phase(model, bench.batch(3000, gain=1.0), 3e-3, 8, "bench")
phase(model, site.batch(1200, gain=1.3), 1e-3, 8, "site ")

predicted, truth = live_stream(model, PumpSimulator(2), 400)
acc = np.mean(predicted == truth)
majority = np.bincount(truth).max() / len(truth)
print(f"live accuracy {acc:.3f}  (most frequent state {majority:.3f})")
print("predicted counts", dict(zip(STATES, np.bincount(predicted, minlength=4).tolist())))
