import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

keras.utils.set_random_seed(21)


class PairwiseEmbedder(keras.Model):
    """Pulls images of one digit together on the unit sphere, pushes the others away."""

    def __init__(self, dim=16, temperature=0.15):
        super().__init__()
        self.temperature = temperature
        self.net = keras.Sequential([
            layers.Conv2D(16, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.Flatten(),
            layers.Dense(dim),
            layers.UnitNormalization(axis=-1),
        ])
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.gap_tracker = keras.metrics.Mean(name="gap")

    @property
    def metrics(self):
        return [self.loss_tracker, self.gap_tracker]

    def call(self, images, training=None):
        return self.net(images, training=training)

    def contrast(self, z, y):
        sims = ops.matmul(z, ops.transpose(z))
        n = ops.shape(z)[0]
        others = 1.0 - ops.eye(n)
        same = ops.cast(ops.equal(y[:, None], y[None, :]), "float32") * others
        logits = sims / self.temperature - 1e9 * (1.0 - others)
        log_prob = logits - ops.logsumexp(logits, axis=1, keepdims=True)
        partners = ops.sum(same, axis=1)
        per_anchor = -ops.sum(ops.where(same > 0, log_prob, 0.0), axis=1) / ops.maximum(partners, 1.0)
        loss = ops.sum(per_anchor) / ops.maximum(ops.sum(ops.cast(partners > 0, "float32")), 1.0)
        differ = others - same
        gap = ops.sum(sims * same) / ops.sum(same) - ops.sum(sims * differ) / ops.sum(differ)
        return loss, gap

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss, gap = self.contrast(self(x, training=True), y)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(grads, self.trainable_variables)
        self.loss_tracker.update_state(loss)
        self.gap_tracker.update_state(gap)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        loss, gap = self.contrast(self(x, training=False), y)
        self.loss_tracker.update_state(loss)
        self.gap_tracker.update_state(gap)
        return {m.name: m.result() for m in self.metrics}


images, digits = load_digits(return_X_y=True)
images = (images / 16.0).astype("float32").reshape(-1, 8, 8, 1)
digits = digits.astype("int32")
x_fit, x_test, y_fit, y_test = train_test_split(images, digits, test_size=0.25, stratify=digits, random_state=2)

batches = tf.data.Dataset.from_tensor_slices((x_fit, y_fit)).shuffle(len(x_fit)).batch(128, drop_remainder=True)
checks = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(128, drop_remainder=True)

model = PairwiseEmbedder()
model.compile(optimizer=keras.optimizers.Adam(3e-3))
model.fit(batches, validation_data=checks, epochs=15, verbose=2)

# three labelled images a digit are enough once the sphere is in order
rng = np.random.default_rng(0)
shots = np.concatenate([rng.choice(np.flatnonzero(y_fit == k), 3, replace=False) for k in range(10)])
for name, a, b in [("pixels", x_fit[shots].reshape(len(shots), -1), x_test.reshape(len(x_test), -1)),
                   ("embedding", model.predict(x_fit[shots], verbose=0), model.predict(x_test, verbose=0))]:
    knn = KNeighborsClassifier(1).fit(a, y_fit[shots])
    print(f"3-shot accuracy on {name}: {knn.score(b, y_test):.3f}")
