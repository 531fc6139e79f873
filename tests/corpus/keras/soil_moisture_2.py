"""Soil moisture regression with an honest error bar: dropout stays on at prediction time and
the spread over many passes, plus the predicted noise, gives the interval."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

PASSES = 60


def field_survey(n, rng, low=0.0, high=1.0):
    depth = rng.uniform(low, high, n)
    clay = rng.beta(2, 3, n)
    rain = rng.gamma(2.0, 0.5, n)
    slope = rng.uniform(0, 1, n)
    mean = 0.2 + 0.25 * clay + 0.12 * np.tanh(rain) * (1 - slope) + 0.1 * np.sin(5 * depth) * clay
    noise = 0.01 + 0.04 * slope
    x = np.stack([depth, clay, rain, slope], 1)
    return x.astype("float32"), (mean + rng.normal(0, noise)).astype("float32")[:, None]


class MeanAndScale(keras.Model):
    """Two heads; trained with the Gaussian negative log likelihood in its own train_step."""

    def __init__(self, width=96, rate=0.1):
        super().__init__()
        self.trunk = keras.Sequential([
            layers.Dense(width, activation="silu"),
            layers.Dropout(rate),
            layers.Dense(width, activation="silu"),
            layers.Dropout(rate),
        ])
        self.mean_head = layers.Dense(1)
        self.scale_head = layers.Dense(1, bias_initializer=keras.initializers.Constant(-0.5))
        self.nll = keras.metrics.Mean(name="nll")

    def call(self, x, training=None):
        h = self.trunk(x, training=training)
        return self.mean_head(h), ops.softplus(self.scale_head(h)) + 1e-3

    @property
    def metrics(self):
        return [self.nll]

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            mu, sigma = self(x, training=True)
            loss = ops.mean(ops.log(sigma) + 0.5 * ops.square((y - mu) / sigma))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.nll.update_state(loss)
        return {"nll": self.nll.result()}


@tf.function
def sample_once(model, x):
    return model(x, training=True)


def predict_interval(model, x):
    draws = [sample_once(model, x) for _ in range(PASSES)]
    mu = np.stack([m.numpy() for m, _ in draws])
    var = np.stack([s.numpy() ** 2 for _, s in draws])
    epistemic = mu.var(0)
    return mu.mean(0), np.sqrt(epistemic + var.mean(0)), np.sqrt(epistemic)


def main():
    keras.utils.set_random_seed(6)
    rng = np.random.default_rng(6)
    x_train, y_train = field_survey(5000, rng)
    x_test, y_test = field_survey(1500, rng)
    x_deep, _ = field_survey(500, rng, low=2.0, high=2.5)       # deeper than anything surveyed
    mx, sx = x_train.mean(0), x_train.std(0)
    my, sy = y_train.mean(), y_train.std()
    norm = lambda a: ((a - mx) / sx).astype("float32")

    model = MeanAndScale()
    model.compile(optimizer=keras.optimizers.Adam(2e-3))
    hist = model.fit(norm(x_train), (y_train - my) / sy, batch_size=128, epochs=25, verbose=0)
    print("nll:", np.round(hist.history["nll"][::6], 3))

    mu, total, _ = predict_interval(model, tf.constant(norm(x_test)))
    mu, total = mu * sy + my, total * sy
    rmse = float(np.sqrt(np.mean((mu - y_test) ** 2)))
    base = float(np.sqrt(np.mean((my - y_test) ** 2)))
    covered = float((np.abs(y_test - mu) < 1.645 * total).mean())
    print(f"test rmse {rmse:.4f}  (mean baseline {base:.4f})")
    print(f"90% interval covers {covered:.3f} of the test points")
    _, _, near = predict_interval(model, tf.constant(norm(x_test[:500])))
    _, _, far = predict_interval(model, tf.constant(norm(x_deep)))
    print(f"model spread inside the survey {near.mean():.3f}, below it {far.mean():.3f}")


if __name__ == "__main__":
    main()
