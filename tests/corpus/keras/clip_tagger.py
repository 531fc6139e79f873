import numpy as np
import tensorflow as tf
import keras
from keras import layers

RATE = 2000
CLASSES = ["hum", "chirp_up", "chirp_down", "clicks", "noise"]


def synth(kind, rng, n=1024):
    t = np.arange(n) / RATE
    f0 = rng.uniform(120, 300)
    if kind == 0:
        s = np.sin(2 * np.pi * f0 * t) + 0.5 * np.sin(4 * np.pi * f0 * t)
    elif kind == 1:
        s = np.sin(2 * np.pi * (f0 * t + 400 * t ** 2))
    elif kind == 2:
        s = np.sin(2 * np.pi * ((f0 + 420) * t - 400 * t ** 2))
    elif kind == 3:
        s = np.zeros(n)
        s[rng.integers(0, n, 12)] = 4.0
    else:
        s = rng.normal(0, 1, n)
    return (s * rng.uniform(0.5, 1.5) + rng.normal(0, 0.6, n)).astype("float32")


def log_spectrogram(waves):
    spec = tf.abs(tf.signal.stft(waves, frame_length=128, frame_step=64))
    return tf.math.log(spec + 1e-3)[..., tf.newaxis]


def build_net():
    return keras.Sequential([
        layers.Conv2D(12, 3, strides=2, use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.Conv2D(24, 3, strides=2, use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.GlobalAveragePooling2D(),
        layers.Dense(32, use_bias=False),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.Dense(len(CLASSES)),
    ])


class Tagger:
    def __init__(self, lr=2e-3):
        self.net = build_net()
        self.opt = keras.optimizers.Adam(lr)
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss_fn(y, self.net(x, training=True))
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss

    @tf.function
    def scores(self, x):
        return tf.nn.softmax(self.net(x, training=True))

    def fit(self, ds, epochs):
        for epoch in range(epochs):
            mean = keras.metrics.Mean()
            for x, y in ds:
                mean.update_state(self.train_step(x, y))
            print(f"epoch {epoch} train loss {float(mean.result()):.4f}")

    def evaluate(self, ds):
        acc = keras.metrics.SparseCategoricalAccuracy()
        nll = keras.metrics.SparseCategoricalCrossentropy()
        for x, y in ds:
            p = self.scores(x)
            acc.update_state(y, p)
            nll.update_state(y, p)
        return float(acc.result()), float(nll.result())


keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)
labels = rng.integers(0, len(CLASSES), 1100)
features = log_spectrogram(np.stack([synth(k, rng) for k in labels])).numpy()
train = tf.data.Dataset.from_tensor_slices((features[:800], labels[:800])).shuffle(800).batch(40)
test = tf.data.Dataset.from_tensor_slices((features[800:], labels[800:])).batch(1)

tagger = Tagger()
tagger.fit(train, epochs=12)
accuracy, nll = tagger.evaluate(test)
print(f"test accuracy {accuracy:.4f}  test nll {nll:.4f}")
