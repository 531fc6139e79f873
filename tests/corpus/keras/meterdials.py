import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import load_digits

keras.utils.set_random_seed(6)
rng = np.random.default_rng(6)

digits = load_digits()
images = (digits.images / 16.0).astype("float32")[..., None]
labels = digits.target
order = rng.permutation(len(images))
train_idx, test_idx = order[:1400], order[1400:]


def triplets(idx, n):
    groups = {c: idx[labels[idx] == c] for c in range(10)}
    out = np.empty((n, 3), dtype=int)
    for k in range(n):
        c = rng.integers(10)
        other = (c + rng.integers(1, 10)) % 10
        out[k] = rng.choice(groups[c]), rng.choice(groups[c]), rng.choice(groups[other])
    return images[out[:, 0]], images[out[:, 1]], images[out[:, 2]]


def distance(a, b):
    return tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=1))


class TripletNet(keras.Model):
    def __init__(self, dim=12):
        super().__init__()
        self.embed = keras.Sequential([
            layers.Conv2D(16, 3, activation="relu"),
            layers.Conv2D(32, 3, activation="relu"),
            layers.Flatten(),
            layers.Dense(32, activation="relu"),
            layers.Dense(dim),
            layers.UnitNormalization(),
        ])
        self.loss_mean = keras.metrics.Mean(name="loss")
        self.order_mean = keras.metrics.Mean(name="ordered")

    @property
    def metrics(self):
        return [self.loss_mean, self.order_mean]

    def call(self, x, training=False):
        return self.embed(x, training=training)

    def measure(self, data, training):
        anchor, positive, negative = data
        za, zp, zn = (self(v, training=training) for v in (anchor, positive, negative))
        near, far = distance(za, zp), distance(za, zn)
        self.order_mean.update_state(tf.cast(near < far, tf.float32))
        return tf.reduce_mean(tf.nn.softplus(4.0 * (near - far)))

    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = self.measure(data, True)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_mean.update_state(loss)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        self.loss_mean.update_state(self.measure(data, False))
        return {m.name: m.result() for m in self.metrics}


train = tf.data.Dataset.from_tensor_slices(triplets(train_idx, 5000)).shuffle(5000, seed=6).batch(64)
test = tf.data.Dataset.from_tensor_slices(triplets(test_idx, 1000)).batch(100)
net = TripletNet()
net.compile(optimizer=keras.optimizers.Adam(1e-3))
net.fit(train, validation_data=test, epochs=6, verbose=2)

bank, queries = net(images[train_idx]).numpy(), net(images[test_idx]).numpy()
nearest = np.argmax(queries @ bank.T, axis=1)
print("1-nn accuracy", np.mean(labels[train_idx][nearest] == labels[test_idx]))
