import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import train_test_split

STATES = ("healthy", "bearing", "cavitation")


def record(rng, state, n=256):
    t = np.arange(n) / n
    base = np.sin(2 * np.pi * 12 * t + rng.uniform(0, 6.28)) * rng.uniform(0.6, 1.4)
    sig = base + rng.normal(0, 0.25, n)
    if state == 1:
        hits = (np.arange(n) + rng.integers(32)) % 32 < 2
        sig += hits * rng.normal(1.1, 0.5, n)
    if state == 2:
        sig += rng.normal(0, 0.35, n) * (1 + np.sin(2 * np.pi * 3 * t))
    return sig


def features(sig):
    spectrum = np.abs(np.fft.rfft(sig))[1:65]
    diff = np.diff(sig)
    kurt = np.mean((sig - sig.mean()) ** 4) / np.var(sig) ** 2
    extra = [sig.std(), np.abs(sig).max(), diff.std(), np.abs(diff).max(), kurt]
    return np.concatenate([spectrum, extra])


def make_data(n=1500, seed=30):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    x = np.stack([features(record(rng, k)) for k in y]).astype("float32")
    return x, y.astype("int32")


class Monitor:
    def __init__(self, dim, lr=1e-3):
        self.net = keras.Sequential([keras.Input((dim,)), layers.BatchNormalization()])
        for width in (64, 32):
            self.net.add(layers.Dense(width, use_bias=False))
            self.net.add(layers.BatchNormalization(momentum=0.9))
            self.net.add(layers.Activation("relu"))
        self.net.add(layers.Dense(len(STATES)))
        self.loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.optimizer = keras.optimizers.Adam(lr)
        self.seen = keras.metrics.SparseCategoricalAccuracy()
        self.train_step = tf.function(self._step, reduce_retracing=True)

    def _step(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.net(x, training=True)
            loss = self.loss(y, logits)
        variables = self.net.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        self.seen.update_state(y, logits)
        return loss

    def fit(self, x, y, epochs=15, batch=50):
        ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x)).batch(batch)
        for epoch in range(epochs):
            self.seen.reset_state()
            losses = [float(self.train_step(xb, yb)) for xb, yb in ds]
            if epoch % 3 == 2:
                print(f"epoch {epoch + 1:2d}  loss {np.mean(losses):.4f}  accuracy {float(self.seen.result()):.3f}")

    def diagnose(self, sample):
        logits = self.net(sample[None, :], training=False)
        return int(tf.argmax(logits, axis=-1)[0])


def main():
    keras.utils.set_random_seed(40)
    x, y = make_data()
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.2, stratify=y, random_state=2)
    monitor = Monitor(x.shape[1])
    monitor.fit(x_train, y_train)
    guesses = np.array([monitor.diagnose(s) for s in x_test])
    print(confusion_matrix(y_test, guesses))
    print(f"test accuracy, one recording at a time: {np.mean(guesses == y_test):.3f}")


if __name__ == "__main__":
    main()
