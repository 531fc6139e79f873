import numpy as np
import tensorflow as tf
from tensorflow import keras
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

keras.utils.set_random_seed(7)


class NoisyClassifier(keras.Model):
    """MLP that sees a clean and a noisy copy of every row and is asked to agree with itself."""

    def __init__(self, n_classes, sigma=0.2, agree=0.5):
        super().__init__()
        self.sigma = sigma
        self.agree = agree
        self.h1 = keras.layers.Dense(32, activation="relu")
        self.h2 = keras.layers.Dense(32, activation="relu")
        self.out = keras.layers.Dense(n_classes, activation="softmax")
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.acc = keras.metrics.SparseCategoricalAccuracy(name="acc")

    def call(self, x):
        return self.out(self.h2(self.h1(x)))

    def train_step(self, data):
        x, y = data
        noisy = x + tf.random.normal(tf.shape(x), stddev=self.sigma)
        with tf.GradientTape() as tape:
            p = self(x, training=True)
            q = self(noisy, training=True)
            ce = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(y, p))
            mse = tf.reduce_mean(tf.square(p - q))
            loss = ce + self.agree * mse
        self.optimizer.minimize(loss, self.trainable_variables, tape=tape)
        self.loss_tracker.update_state(loss)
        self.acc.update_state(y, p)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        p = self(x, training=False)
        self.loss_tracker.update_state(tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(y, p)))
        self.acc.update_state(y, p)
        return {m.name: m.result() for m in self.metrics}

    @property
    def metrics(self):
        return [self.loss_tracker, self.acc]


X, y = load_wine(return_X_y=True)
X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
scaler = StandardScaler().fit(X_tr)
X_tr = scaler.transform(X_tr).astype("float32")
X_te = scaler.transform(X_te).astype("float32")

model = NoisyClassifier(3)
model.compile(optimizer=keras.optimizers.Adam(5e-3))
model.fit(X_tr, y_tr, batch_size=16, epochs=20, validation_data=(X_te, y_te), verbose=2)
print("test accuracy:", model.evaluate(X_te, y_te, verbose=0, return_dict=True)["acc"])
