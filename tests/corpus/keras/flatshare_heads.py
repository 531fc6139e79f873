"""Flat-share adverts: one trunk, two heads (monthly rent and kind of house), tf_keras with a custom training step."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

KINDS = ["students", "professionals", "family", "community"]


class Adverts:
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        size, centre, age, rooms = rng.gamma(9, 2, n), rng.gamma(2, 2, n), rng.uniform(18, 60, n), rng.integers(2, 7, n)
        extras = rng.normal(size=(n, 6))
        self.rent = 180 + 14 * size - 22 * centre + 35 * extras[:, 0] + 20 * extras[:, 1] * extras[:, 2] + rng.normal(0, 25, n)
        mood = np.stack([-0.10 * (age - 30) + 0.4 * (rooms - 4), 0.9 - 0.2 * centre + 0.6 * extras[:, 3],
                         0.09 * (age - 40) + 0.8 * extras[:, 4], 0.5 * (rooms - 4) + extras[:, 5] * extras[:, 3]], 1)
        self.kind = (mood + rng.gumbel(0, 0.2, mood.shape)).argmax(1).astype("int32")
        self.x = np.column_stack([size, centre, age, rooms, extras]).astype("float32")

    def fit_scaler(self):
        self.x_mu, self.x_sd = self.x.mean(0), self.x.std(0)
        self.r_mu, self.r_sd = self.rent.mean(), self.rent.std()
        return self

    def scaled(self, ref):
        x = (self.x - ref.x_mu) / ref.x_sd
        rent = self.rent - ref.r_mu
        return x.astype("float32"), rent.astype("float32"), self.kind


class AdvertNet(keras.Model):
    def __init__(self, width=64, clip=1.0):
        super().__init__()
        self.trunk = keras.Sequential([layers.Dense(width, activation="relu"), layers.Dense(width, activation="relu")])
        self.rent_head = layers.Dense(1)
        self.kind_head = layers.Dense(len(KINDS))
        self.huber = keras.losses.Huber(delta=100.0)
        self.ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.clip = clip
        self.acc = keras.metrics.SparseCategoricalAccuracy(name="kind_acc")

    def call(self, x):
        h = self.trunk(x)
        return self.rent_head(h)[:, 0], self.kind_head(h)

    def train_step(self, batch):
        x, rent, kind = batch
        with tf.GradientTape() as tape:
            rent_hat, kind_logits = self(x, training=True)
            loss = self.huber(rent, rent_hat) + self.ce(kind, kind_logits)
        grads = tape.gradient(loss, self.trainable_variables)
        grads, norm = tf.clip_by_global_norm(grads, self.clip)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.acc.update_state(kind, kind_logits)
        return {"loss": loss, "kind_acc": self.acc.result(), "grad_norm": norm}

    @property
    def metrics(self):
        return [self.acc]


def main():
    keras.utils.set_random_seed(4)
    train, test = Adverts(4000, 1).fit_scaler(), Adverts(1000, 2)
    ds = tf.data.Dataset.from_tensor_slices(train.scaled(train)).shuffle(4000, seed=0).batch(64)
    model = AdvertNet()
    model.compile(optimizer=keras.optimizers.legacy.SGD(0.05, momentum=0.9))
    hist = model.fit(ds, epochs=15, verbose=0).history
    print("kind accuracy while training", [round(a, 3) for a in hist["kind_acc"]])
    x, rent, kind = test.scaled(train)
    rent_hat, logits = model.predict(x, verbose=0)
    r2 = 1 - np.mean((rent_hat - rent) ** 2) / np.var(rent)
    print(f"test: rent R2 {r2:.3f}   kind accuracy {np.mean(logits.argmax(1) == kind):.3f}"
          f"   (largest class {np.bincount(kind).max() / len(kind):.3f})")


if __name__ == "__main__":
    main()
