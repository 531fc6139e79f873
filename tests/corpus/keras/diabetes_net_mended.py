import numpy as np
import tensorflow as tf
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


class MLPRegressor:
    def __init__(self, hidden=(32, 16), lr=5e-3, epochs=60, batch_size=32, seed=0):
        self.hidden = hidden
        self.lr = lr
        self.epochs = epochs
        self.batch_size = batch_size
        self.seed = seed
        self.history = []

    def _build(self, n_features):
        net = tf.keras.Sequential([tf.keras.Input((n_features,))])
        for h in self.hidden:
            net.add(tf.keras.layers.Dense(h, activation="tanh"))
        net.add(tf.keras.layers.Dense(1))
        return net

    def _batches(self, X, y):
        ds = tf.data.Dataset.from_tensor_slices((X, y))
        return ds.shuffle(len(X), seed=self.seed).batch(self.batch_size)

    @tf.function
    def _step(self, xb, yb):
        with tf.GradientTape() as tape:
            pred = self.net(xb, training=True)
            loss = tf.reduce_mean(tf.square(yb - tf.squeeze(pred, axis=-1)))
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss

    def fit(self, X, y):
        tf.keras.utils.set_random_seed(self.seed)
        X = X.astype("float32")
        self.y_mean, self.y_std = y.mean(), y.std()
        target = ((y - self.y_mean) / self.y_std).astype("float32")
        self.net = self._build(X.shape[1])
        self.opt = tf.keras.optimizers.Adam(self.lr)
        ds = self._batches(X, target)
        for epoch in range(self.epochs):
            total = tf.keras.metrics.Mean()
            for xb, yb in ds:
                total.update_state(self._step(xb, yb))
            self.history.append(float(total.result()))
            if epoch % 10 == 0:
                print(f"epoch {epoch:3d}  mse {self.history[-1]:.4f}")
        return self

    def predict(self, X):
        z = self.net(X.astype("float32"), training=False).numpy()[:, 0]
        return z * self.y_std + self.y_mean

    def score(self, X, y):
        res = y - self.predict(X)
        return 1.0 - np.sum(res ** 2) / np.sum((y - y.mean()) ** 2)


def main():
    X, y = load_diabetes(return_X_y=True)
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.25, random_state=3)
    scaler = StandardScaler().fit(X_tr)
    X_tr, X_te = scaler.transform(X_tr), scaler.transform(X_te)

    model = MLPRegressor(hidden=(16,), lr=3e-3, epochs=40).fit(X_tr, y_tr)
    mae = np.abs(model.predict(X_te) - y_te).mean()
    print(f"train R2 {model.score(X_tr, y_tr):.3f}")
    print(f"test  R2 {model.score(X_te, y_te):.3f}  MAE {mae:.1f}")


if __name__ == "__main__":
    main()
