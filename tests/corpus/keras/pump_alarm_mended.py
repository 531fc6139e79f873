"""Pump failure alarm from sensor snapshots (rare positives), custom loop with its own evaluation."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

SENSORS = 14
RATE = 0.03


def snapshots(n, rng):
    y = (rng.random(n) < RATE).astype("float32")
    x = rng.normal(size=(n, SENSORS))
    mode = rng.integers(0, 2, n)
    x[:, 0] += y * np.where(mode == 0, 2.8, -2.4)
    x[:, 3] += y * np.where(mode == 0, -2.2, 2.6)
    x[:, 7] += y * 2.2
    x[:, 9] *= 1 + 1.5 * y
    return x.astype("float32"), y


class AlarmTrainer:
    def __init__(self, lr=2e-3, pos_weight=6.0):
        self.net = keras.Sequential([
            keras.Input((SENSORS,)),
            layers.Dense(64, activation="relu"),
            layers.Dense(32, activation="relu"),
            layers.Dense(1),
        ])
        self.opt = keras.optimizers.AdamW(lr, weight_decay=1e-4)
        self.pos_weight = pos_weight

    @tf.function
    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            logit = self.net(x, training=True)[:, 0]
            loss = tf.reduce_mean(tf.nn.weighted_cross_entropy_with_logits(y, logit, self.pos_weight))
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss

    @tf.function
    def counts(self, x, y):
        hit = tf.cast(self.net(x)[:, 0] > 0.0, tf.float32)
        tp = tf.reduce_sum(hit * y)
        return tp, tf.reduce_sum(hit), tf.reduce_sum(y)

    def evaluate(self, data):
        rows = []
        for x, y in data:
            rows.append([v.numpy() for v in self.counts(x, y)])
        tp, flagged, actual = np.array(rows).T
        recall = tp.sum() / max(actual.sum(), 1)
        precision = tp.sum() / max(flagged.sum(), 1)
        return {"recall": float(recall), "precision": float(precision)}

    def fit(self, train, val, epochs):
        for epoch in range(1, epochs + 1):
            losses = [float(self.train_step(x, y)) for x, y in train]
            m = self.evaluate(val)
            print(f"epoch {epoch:2d}  loss {np.mean(losses):.4f}  val recall {m['recall']:.3f}  val precision {m['precision']:.3f}")


if __name__ == "__main__":
    keras.utils.set_random_seed(13)
    rng = np.random.default_rng(13)
    train = tf.data.Dataset.from_tensor_slices(snapshots(20000, rng)).shuffle(20000, seed=0).batch(128)
    val = tf.data.Dataset.from_tensor_slices(snapshots(6000, rng)).batch(32)
    AlarmTrainer().fit(train, val, epochs=8)
