"""Wine cultivars with a dropout network; predictions averaged over random passes."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(23)


class BayesianishClassifier:
    def __init__(self, n_in, n_out, passes=50):
        self.passes = passes
        self.net = keras.Sequential(
            [
                keras.Input((n_in,)),
                layers.Dense(64, activation="relu"),
                layers.Dropout(0.3),
                layers.Dense(64, activation="relu"),
                layers.Dropout(0.3),
                layers.Dense(n_out),
            ]
        )
        self.opt = keras.optimizers.Adam(2e-3)

    @tf.function
    def _step(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.net(x, training=True)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
            )
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss

    def fit(self, x, y, epochs=40, batch=16):
        data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x)).batch(batch)
        for epoch in range(epochs):
            losses = [float(self._step(xb, yb)) for xb, yb in data]
            if epoch % 10 == 9:
                print(f"epoch {epoch + 1} loss {np.mean(losses):.4f}")
        return self

    @tf.function
    def _one_pass(self, x):
        return tf.nn.softmax(self.net(x, training=True))

    def predict_proba(self, x):
        draws = np.stack([self._one_pass(x).numpy() for _ in range(self.passes)])
        return draws.mean(0), draws.std(0)


x, y = load_wine(return_X_y=True)
x_tr, x_te, y_tr, y_te = train_test_split(
    x.astype("float32"), y.astype("int32"), test_size=0.35, stratify=y, random_state=3
)
mu, sd = x_tr.mean(0), x_tr.std(0)
x_tr, x_te = (x_tr - mu) / sd, (x_te - mu) / sd

clf = BayesianishClassifier(x.shape[1], 3).fit(x_tr, y_tr)
mean, spread = clf.predict_proba(tf.constant(x_te))
nll = -np.log(mean[np.arange(len(y_te)), y_te]).mean()
print("majority share", round(float(np.bincount(y_te).max() / len(y_te)), 3))
print("mean spread of the passes", round(float(spread.mean()), 3))
print(f"test nll {nll:.3f}  test accuracy {(mean.argmax(1) == y_te).mean():.3f}")
