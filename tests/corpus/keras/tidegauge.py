"""Predict the water level of a harbour together with its uncertainty."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(21)


class GaussianRegressor(keras.Model):
    def __init__(self, width=48):
        super().__init__()
        self.trunk = keras.Sequential(
            [layers.Dense(width, activation="swish"), layers.Dense(width, activation="swish")]
        )
        self.mean_head = layers.Dense(1)
        self.logvar_head = layers.Dense(1, kernel_initializer="zeros")
        self.nll_tracker = keras.metrics.Mean(name="nll")
        self.mae_tracker = keras.metrics.MeanAbsoluteError(name="mae")

    @property
    def metrics(self):
        return [self.nll_tracker, self.mae_tracker]

    def call(self, x):
        h = self.trunk(x)
        return self.mean_head(h), self.logvar_head(h)

    def nll(self, y, mean, logvar):
        return 0.5 * tf.reduce_mean(logvar + tf.square(y - mean) * tf.exp(-logvar))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            mean, logvar = self(x, training=True)
            loss = self.nll(y, mean, logvar)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.nll_tracker.update_state(loss)
        self.mae_tracker.update_state(y, mean)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        mean, logvar = self(x, training=False)
        self.nll_tracker.update_state(self.nll(y, mean, logvar))
        self.mae_tracker.update_state(y, mean)
        return {m.name: m.result() for m in self.metrics}


def make_data(n, seed):
    rng = np.random.default_rng(seed)
    moon, wind, pressure, rain = rng.uniform(-1, 1, (4, n))
    level = 1.5 * np.sin(3 * moon) + 0.8 * wind * np.abs(wind) - 0.6 * pressure
    noise = (0.05 + 0.3 * np.clip(wind, 0, None)) * rng.normal(size=n)
    x = np.stack([moon, wind, pressure, rain], axis=1)
    return x.astype("float32"), (level + noise).astype("float32")


def main():
    x_train, y_train = make_data(4000, 0)
    x_test, y_test = make_data(800, 1)
    train = (
        tf.data.Dataset.from_tensor_slices((x_train, y_train))
        .shuffle(4000, seed=3)
        .batch(64, drop_remainder=True)
    )
    test = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(100)

    model = GaussianRegressor()
    model.compile(optimizer=keras.optimizers.Adam(2e-3))
    model.fit(train, epochs=15, validation_data=test, verbose=2)

    mean, _ = model(x_test)
    residual = y_test - mean.numpy()[:, 0]
    print("R2: %.3f" % (1 - residual.var() / y_test.var()))


if __name__ == "__main__":
    main()
