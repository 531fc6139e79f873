"""Predict the yield of a field from soil and weather readings."""
import argparse

import keras
import numpy as np
from keras import layers

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=30)
parser.add_argument("--peak", type=float, default=0.03)
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--seed", type=int, default=11)
args = parser.parse_args()

keras.utils.set_random_seed(args.seed)


def make_fields(n, rng):
    ph = rng.normal(6.5, 0.7, n)
    rain = rng.gamma(4.0, 120.0, n)
    temp = rng.normal(17, 3, n)
    nitrogen = rng.uniform(20, 200, n)
    clay = rng.beta(2, 3, n)
    X = np.stack([(ph - 6.5) / 0.7, (rain - 480) / 240, (temp - 17) / 3, (nitrogen - 110) / 52, (clay - 0.4) / 0.2], 1)
    y = (
        2.0 * np.exp(-((ph - 6.6) ** 2))
        + 1.5 * np.tanh((rain - 350) / 200)
        - 0.05 * (temp - 18) ** 2
        + 0.9 * np.log(nitrogen / 60) * (1 - clay)
        + 0.8 * np.sin(X[:, 1] * X[:, 2])
    )
    y = y + rng.normal(0, 0.1, n)
    return X.astype("float32"), y.astype("float32")


class CosineRate(keras.callbacks.Callback):
    """Lower the rate from `peak` to almost nothing along half a cosine."""

    def __init__(self, peak, epochs):
        super().__init__()
        self.peak = peak
        self.epochs = epochs

    def on_epoch_start(self, epoch, logs=None):
        frac = epoch / max(1, self.epochs - 1)
        rate = self.peak * (0.002 + 0.998 * 0.5 * (1 + np.cos(np.pi * frac)))
        self.model.optimizer.learning_rate = float(rate)


rng = np.random.default_rng(args.seed)
X, y = make_fields(5000, rng)
X_test, y_test = make_fields(2000, rng)
mu, sd = y.mean(), y.std()

net = keras.Sequential([
    layers.Input((5,)),
    layers.Dense(96, activation="relu"),
    layers.Dense(96, activation="relu"),
    layers.Dense(1),
])
net.compile(optimizer=keras.optimizers.Adam(args.peak), loss="mse")
net.fit(
    X, (y - mu) / sd,
    validation_data=(X_test, (y_test - mu) / sd),
    epochs=args.epochs,
    batch_size=args.batch,
    callbacks=[CosineRate(args.peak, args.epochs)],
    verbose=2,
)
pred = net.predict(X_test, verbose=0)[:, 0] * sd + mu
print("rate at the end:", float(net.optimizer.learning_rate))
print("test RMSE (t/ha): %.4f   spread of y: %.4f" % (np.sqrt(np.mean((pred - y_test) ** 2)), y_test.std()))
