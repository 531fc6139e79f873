"""Predict crop yield together with its uncertainty (Gaussian likelihood)."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops


def field_trials(n, seed):
    rng = np.random.default_rng(seed)
    rain = rng.gamma(4.0, 60.0, n)
    nitrogen = rng.uniform(0, 220, n)
    temp = rng.normal(17, 3, n)
    ph = rng.normal(6.5, 0.5, n)
    clay = rng.uniform(5, 50, n)
    mean = (
        3.0
        + 2.2 * np.tanh((rain - 180) / 90)
        + 1.8 * (1 - np.exp(-nitrogen / 70))
        - 0.04 * (temp - 17) ** 2
        - 0.8 * (ph - 6.5) ** 2
    )
    spread = 0.15 + 0.012 * clay
    x = np.stack([rain, nitrogen, temp, ph, clay], axis=1).astype("float32")
    return x, (mean + spread * rng.normal(size=n)).astype("float32")


class YieldModel(keras.Model):
    def __init__(self, hidden=48):
        super().__init__()
        self.norm = layers.Normalization()
        self.h1 = layers.Dense(hidden, activation="swish")
        self.h2 = layers.Dense(hidden, activation="swish")
        self.mu = layers.Dense(1)
        self.log_sigma = layers.Dense(1)
        self.tracker = keras.metrics.Mean(name="nll")

    @property
    def metrics(self):
        return [self.tracker]

    def call(self, x, training=False):
        h = self.h2(self.h1(self.norm(x)))
        return self.mu(h), ops.clip(self.log_sigma(h), -4.0, 3.0)

    def likelihood(self, data, training):
        x, y = data
        mu, log_sigma = self(x, training=training)
        z = (y - mu) * ops.exp(-log_sigma)
        return ops.mean(0.5 * ops.square(z) + log_sigma)

    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = self.likelihood(data, True)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.tracker.update_state(loss)
        return {"nll": self.tracker.result()}

    def test_step(self, data):
        self.tracker.update_state(self.likelihood(data, False))
        return {"nll": self.tracker.result()}


keras.utils.set_random_seed(9)
x, y = field_trials(3000, 0)
x_train, y_train = x[:2200], y[:2200]
x_val, y_val = x[2200:2600], y[2200:2600]
x_test, y_test = x[2600:], y[2600:]

model = YieldModel()
model.norm.adapt(x_train)
steps = 30 * (len(x_train) // 64 + 1)
model.compile(optimizer=keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(4e-3, steps)))
stop = keras.callbacks.EarlyStopping(monitor="val_nll", mode="min", patience=8, restore_best_weights=True)
log = model.fit(
    x_train, y_train, validation_data=(x_val, y_val), epochs=30, batch_size=64, callbacks=[stop], verbose=0
).history
for e in range(0, len(log["nll"]), 6):
    print(f"epoch {e:2d}  nll {log['nll'][e]:.4f}  val_nll {log['val_nll'][e]:.4f}")

mu, log_sigma = model.predict(x_test, verbose=0)
mu, sigma = mu[:, 0], np.exp(log_sigma[:, 0])
r2 = 1 - np.mean((y_test - mu) ** 2) / np.var(y_test)
inside = np.mean(np.abs(y_test - mu) < 1.64 * sigma)
print(f"test R2 {r2:.3f}  mean sigma {sigma.mean():.3f} (spread of y {y_test.std():.3f})  90% interval covers {inside:.3f}")
