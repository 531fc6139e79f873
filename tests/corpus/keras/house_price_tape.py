import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split


def synth_listings(n, seed):
    rng = np.random.default_rng(seed)
    area = rng.gamma(6.0, 18.0, n)
    rooms = np.clip((area / 28 + rng.normal(0, 0.8, n)).round(), 1, 9)
    age = rng.uniform(0, 90, n)
    dist = rng.exponential(6.0, n)
    floor = rng.integers(0, 12, n)
    price = (2.4 * area + 9 * rooms - 0.9 * age + 0.006 * age ** 2
             - 11 * np.log1p(dist) * np.sqrt(area / 100) + 1.5 * floor + rng.normal(0, 18, n))
    x = np.stack([area, rooms, age, dist, floor], 1)
    return x.astype("float32"), price.astype("float32")


class PriceRegressor:
    def __init__(self, hidden=(64, 32), lr=3e-3, epochs=40, batch_size=64):
        self.epochs = epochs
        self.batch_size = batch_size
        self.net = keras.Sequential(
            [layers.Dense(h, activation="relu") for h in hidden] + [layers.Dense(1)])
        self.optimizer = keras.optimizers.Adam(lr)

    def _scale_fit(self, x, y):
        self.x_mean, self.x_std = x.mean(0), x.std(0)
        self.y_mean, self.y_std = y.mean(), y.std()

    def _scale_x(self, x):
        return (x - self.x_mean) / self.x_std

    @tf.function
    def _step(self, xb, yb):
        with tf.GradientTape() as tape:
            pred = self.net(xb, training=True)
            loss = tf.reduce_mean(tf.square(yb - pred))
        variables = self.net.trainable_variables
        grads = tape.gradient(loss, variables)
        self.optimizer.apply_gradients(zip(grads, variables))
        return loss

    def fit(self, x, y):
        self._scale_fit(x, y)
        self.net.build((None, x.shape[1]))
        self.optimizer.build(self.net.trainable_variables)
        targets = (y - self.y_mean) / self.y_std
        ds = (tf.data.Dataset.from_tensor_slices((self._scale_x(x), targets))
              .shuffle(len(x), seed=0).batch(self.batch_size, drop_remainder=True))
        for epoch in range(self.epochs):
            losses = [float(self._step(xb, yb)) for xb, yb in ds]
            if epoch % 5 == 0 or epoch == self.epochs - 1:
                print(f"epoch {epoch:02d} loss {np.mean(losses):.4f}")
        return self

    def predict(self, x):
        out = self.net(self._scale_x(x), training=False).numpy().ravel()
        return out * self.y_std + self.y_mean


if __name__ == "__main__":
    keras.utils.set_random_seed(4)
    x, y = synth_listings(3000, 17)
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.25, random_state=1)
    model = PriceRegressor().fit(x_tr, y_tr)
    pred = model.predict(x_te)
    print("test MAE", round(float(np.abs(pred - y_te).mean()), 2),
          "MAE of the mean", round(float(np.abs(y_tr.mean() - y_te).mean()), 2))
    print("test R2", round(r2_score(y_te, pred), 4))
