import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(8)
SPECIES, BANDS, FRAMES = 60, 32, 20


def species_book(rng):
    return [dict(pitch=rng.uniform(3, 28), spread=rng.uniform(0.7, 2.0),
                 pulse=rng.uniform(0.1, 0.45), sweep=rng.uniform(-0.25, 0.25))
            for _ in range(SPECIES)]


def call_spectrogram(s, rng):
    t = np.arange(FRAMES)
    band = np.arange(BANDS)[:, None]
    centre = s["pitch"] + s["sweep"] * (t - FRAMES / 2) + rng.normal(0, 0.25)
    env = 0.55 + 0.45 * np.sin(2 * np.pi * s["pulse"] * t + rng.uniform(0, 6.28))
    spec = np.exp(-0.5 * ((band - centre) / s["spread"]) ** 2) * env
    return spec * rng.uniform(0.7, 1.2) + np.abs(rng.normal(0, 0.08, spec.shape))


def recordings(per_species, seed):
    book = species_book(np.random.default_rng(99))
    rng = np.random.default_rng(seed)
    X, y = [], []
    for i, s in enumerate(book):
        for _ in range(per_species):
            X.append(call_spectrogram(s, rng))
            y.append(i)
    X = np.array(X, "float32")[..., None]
    order = rng.permutation(len(X))
    return X[order] / 0.5 - 0.3, np.array(y, "int32")[order]


class MixupModel(keras.Model):
    """Convolutional classifier trained on convex combinations of two calls."""

    def __init__(self, alpha=0.2, **kw):
        super().__init__(**kw)
        self.alpha = alpha
        self.body = keras.Sequential([
            layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
            layers.Flatten(),
            layers.Dense(96, activation="relu"),
        ])
        self.head = layers.Dense(SPECIES, activation="softmax")
        self.loss_mean = keras.metrics.Mean(name="loss")
        self.acc = keras.metrics.SparseCategoricalAccuracy(name="acc")

    def call(self, x, training=False):
        return self.head(self.body(x, training=training))

    @property
    def metrics(self):
        return [self.loss_mean, self.acc]

    def train_step(self, data):
        x, y = data
        n = tf.shape(x)[0]
        lam = tf.random.uniform((), 1 - self.alpha, 1.0)
        perm = tf.random.shuffle(tf.range(n))
        mixed = lam * x + (1 - lam) * tf.gather(x, perm)
        hot = tf.one_hot(y, SPECIES)
        target = lam * hot + (1 - lam) * tf.gather(hot, perm)
        with tf.GradientTape() as tape:
            out = self(mixed, training=True)
            loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(target, out))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_mean.update_state(loss)
        self.acc.update_state(y, out)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        out = self(x, training=False)
        self.acc.update_state(y, out)
        return {"acc": self.acc.result()}


X_tr, y_tr = recordings(40, seed=1)
X_te, y_te = recordings(12, seed=2)
model = MixupModel()
model.compile(optimizer=keras.optimizers.Adam(1e-3))
hist = model.fit(X_tr, y_tr, batch_size=64, epochs=14, validation_data=(X_te, y_te), verbose=2)

scores = model.predict(X_te, verbose=0)
top5 = np.mean([t in row for t, row in zip(y_te, np.argsort(-scores, 1)[:, :5])])
print(f"last training loss {hist.history['loss'][-1]:.3f}")
print(f"test accuracy {np.mean(scores.argmax(1) == y_te):.3f}  (chance {1 / SPECIES:.3f})")
print(f"test top-5    {top5:.3f}")
