import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(17)
ACTIVITIES = ["sit", "walk", "stairs", "run", "cycle", "lift"]
WINDOW, CHANNELS = 50, 3


def record_session(activity, n_windows, rng):
    """One continuous recording per activity, cut into windows of one second."""
    t = np.arange(WINDOW) / 50.0
    freq = [0.3, 1.8, 1.5, 2.9, 1.2, 0.4][activity]
    amp = [0.05, 0.8, 0.9, 1.8, 0.5, 0.3][activity]
    tilt = [[0, 0, 1], [0, .2, 1], [.3, .5, .8], [0, .4, .9], [.5, .5, .6], [.2, .8, .5]][activity]
    out = np.empty((n_windows, WINDOW, CHANNELS), "float32")
    for i in range(n_windows):
        f = freq * rng.normal(1, 0.12)
        phase = rng.uniform(0, 2 * np.pi)
        for c in range(CHANNELS):
            wave = amp * (np.sin(2 * np.pi * f * t + phase + c) + 0.4 * np.sin(4 * np.pi * f * t + phase))
            out[i, :, c] = tilt[c] + wave * rng.normal(1, 0.2) + rng.normal(0, 0.35, WINDOW)
    return out


def recording_generator(n_per_activity, seed):
    rng = np.random.default_rng(seed)
    for k in range(len(ACTIVITIES)):
        for w in record_session(k, n_per_activity, rng):
            yield w, k


def stream(n_per_activity, seed):
    return tf.data.Dataset.from_generator(
        lambda: recording_generator(n_per_activity, seed),
        output_signature=(tf.TensorSpec((WINDOW, CHANNELS), tf.float32),
                          tf.TensorSpec((), tf.int32)))


def make_network():
    return keras.Sequential([
        keras.layers.Input((WINDOW, CHANNELS)),
        keras.layers.Conv1D(24, 7, activation="relu"),
        keras.layers.MaxPooling1D(2),
        keras.layers.Conv1D(32, 5, activation="relu"),
        keras.layers.GlobalMaxPooling1D(),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(len(ACTIVITIES)),
    ])


class Trainer:
    def __init__(self, net, lr):
        self.net = net
        self.opt = keras.optimizers.Adam(lr)
        self.ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.ce(y, self.net(x, training=True))
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss

    def run_epoch(self, ds):
        return float(np.mean([self.step(x, y) for x, y in ds]))

    def evaluate(self, ds):
        hits, losses, per_class = [], [], np.zeros((len(ACTIVITIES), 2))
        for x, y in ds:
            logits = self.net(x, training=False)
            losses.append(float(self.ce(y, logits)))
            ok = tf.argmax(logits, 1, output_type=tf.int32) == y
            hits.extend(ok.numpy())
            for k, o in zip(y.numpy(), ok.numpy()):
                per_class[k] += (1, o)
        return np.mean(hits), np.mean(losses), per_class[:, 1] / per_class[:, 0]


SHUFFLE_BUFFER = 2400
train = stream(400, seed=1).cache().shuffle(SHUFFLE_BUFFER).batch(32).prefetch(2)
test = stream(100, seed=2).batch(100).cache()

trainer = Trainer(make_network(), lr=2e-3)
for epoch in range(10):
    train_loss = trainer.run_epoch(train)
    acc, loss, _ = trainer.evaluate(test)
    print(f"epoch {epoch} train loss {train_loss:.3f}  test loss {loss:.3f}  test accuracy {acc:.3f}")

acc, loss, recall = trainer.evaluate(test)
for name, r in zip(ACTIVITIES, recall):
    print(f"{name:7s} recall {r:.2f}")
print(f"final test accuracy {acc:.3f}, loss {loss:.3f}")
