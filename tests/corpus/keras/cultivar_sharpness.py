# Noisy-label tabular classification with a sharpness-aware training step (two gradient passes).
import argparse

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import make_classification
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import train_test_split

ap = argparse.ArgumentParser()
ap.add_argument("--rho", type=float, default=0.08)
ap.add_argument("--lr", type=float, default=0.3)
ap.add_argument("--epochs", type=int, default=30)
ap.add_argument("--flip", type=float, default=0.2, help="share of training labels replaced at random")
args, _ = ap.parse_known_args()


class SharpnessAware(keras.Model):
    """Climb to the worst point nearby, take the gradient there, step from where we were."""

    def set_radius(self, rho):
        self.rho = rho
        return self

    def train_step(self, data):
        x, y = data
        weights = self.trainable_variables
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x=x, y=y, y_pred=self(x, training=True))
        first = tape.gradient(loss, weights)
        scale = self.rho / (tf.linalg.global_norm(first) + 1e-12)
        climbs = [g * scale for g in first]
        for w, e in zip(weights, climbs):
            w.assign_add(e)
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            worst = self.compute_loss(x=x, y=y, y_pred=y_pred)
        second = tape.gradient(worst, weights)
        for w, e in zip(weights, climbs):
            w.assign_sub(e)
        self.optimizer.apply_gradients(zip(second, weights))
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}


def build(n_in, n_out):
    inp = keras.Input((n_in,))
    h = keras.layers.Dense(96)(inp)
    h = keras.layers.LayerNormalization()(h)
    h = keras.layers.Activation("relu")(h)
    h = keras.layers.Dense(48)(h)
    h = keras.layers.LayerNormalization()(h)
    h = keras.layers.Activation("relu")(h)
    return SharpnessAware(inp, keras.layers.Dense(n_out)(h)).set_radius(args.rho)


keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)
x, y = make_classification(n_samples=4000, n_features=24, n_informative=10, n_redundant=4, n_classes=5,
                           n_clusters_per_class=2, class_sep=1.6, flip_y=0.0, random_state=4)
x_tr, x_te, y_tr, y_te = train_test_split(x.astype("float32"), y, test_size=0.4, random_state=1)
mean, std = x_tr.mean(0), x_tr.std(0)
x_tr, x_te = (x_tr - mean) / std, (x_te - mean) / std

# annotators slip: only the training labels carry the noise
flip = rng.random(len(y_tr)) < args.flip
y_noisy = np.where(flip, rng.integers(0, 5, len(y_tr)), y_tr)
print("training labels that differ from the truth: %.3f" % np.mean(y_noisy != y_tr))

model = build(x.shape[1], 5)
steps = args.epochs * (len(x_tr) // 64)
model.compile(
    optimizer=keras.optimizers.SGD(keras.optimizers.schedules.CosineDecay(args.lr, steps, alpha=0.02)),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x_tr, y_noisy, batch_size=64, epochs=args.epochs, verbose=0,
          callbacks=[keras.callbacks.LambdaCallback(
              on_epoch_end=lambda e, logs: print("epoch %2d  loss %.3f  accuracy on noisy labels %.3f"
                                                 % (e + 1, logs["loss"], logs["accuracy"]))
              if e % 6 == 5 else None)])

prob = tf.nn.softmax(model.predict(x_te, batch_size=512, verbose=0)).numpy()
print("clean test accuracy %.3f  log-loss %.3f  (majority class %.3f)"
      % (accuracy_score(y_te, prob.argmax(1)), log_loss(y_te, prob, labels=range(5)),
         np.bincount(y_te).max() / len(y_te)))
