import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.model_selection import train_test_split

RATE = 256
STATES = ["idle", "worn bearing", "loose belt", "misfire"]


def hum(state, rng):
    t = np.arange(RATE) / RATE
    base = rng.uniform(11, 15)
    wave = np.sin(2 * np.pi * base * t + rng.uniform(0, 6.28))
    phase = rng.uniform(0, 6.28)
    if state == 1:
        wave += 0.5 * np.sin(2 * np.pi * rng.uniform(60, 75) * t + phase)
    elif state == 2:
        wave *= 1 + 0.6 * np.sin(2 * np.pi * rng.uniform(2, 4) * t + phase)
    elif state == 3:
        wave[(np.arange(RATE) + rng.integers(0, 64)) % 64 < 8] *= 0.1
    return wave + rng.normal(0, 0.25, RATE)


def recordings(n, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, len(STATES), n)
    waves = np.stack([hum(s, rng) for s in labels]).astype("float32")
    return waves[..., None], labels.astype("int32")


def make_encoder():
    return keras.Sequential([
        layers.Conv1D(12, 9, strides=2, activation="relu"),
        layers.Conv1D(16, 9, strides=2, activation="relu"),
        layers.Conv1D(16, 5, strides=2, activation="relu"),
        layers.GlobalMaxPooling1D(),
        layers.Dense(6, activation="tanh"),
    ], name="encoder")


class HumClassifier:
    def __init__(self, lr=3e-3):
        self.encoder = make_encoder()
        self.head = keras.Sequential([keras.Input((6,)), layers.Dense(len(STATES))], name="head")
        self.encoder.build((None, RATE, 1))
        self.params = self.encoder.trainable_variables + self.head.trainable_variables
        self.optimizer = keras.optimizers.Adam(lr)
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss_fn(y, self.head(self.encoder(x, training=True), training=True))
        grads = tape.gradient(loss, self.params)
        self.optimizer.apply_gradients(zip(grads, self.params))
        return loss

    def fit(self, x, y, epochs, batch=32):
        feed = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x), seed=5).batch(batch)
        for epoch in range(epochs):
            losses = [float(self.step(xb, yb)) for xb, yb in feed]
            print(f"epoch {epoch + 1:2d} loss {np.mean(losses):.4f}")
        return self

    def predict(self, x):
        return np.argmax(self.head(self.encoder(x)).numpy(), axis=1)


if __name__ == "__main__":
    keras.utils.set_random_seed(17)
    waves, labels = recordings(1600, 17)
    x_tr, x_te, y_tr, y_te = train_test_split(waves, labels, test_size=0.25, stratify=labels, random_state=2)
    clf = HumClassifier().fit(x_tr, y_tr, epochs=15)
    pred = clf.predict(x_te)
    for k, name in enumerate(STATES):
        print(f"{name:13s} recall {np.mean(pred[y_te == k] == k):.3f}")
    print(f"test accuracy {np.mean(pred == y_te):.3f}  majority {np.bincount(y_te).max() / len(y_te):.3f}")
