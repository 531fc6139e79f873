import numpy as np
import tensorflow as tf
from sklearn.datasets import load_diabetes
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


class ProgressionRegressor:
    """Disease progression after one year from ten baseline measurements."""

    def __init__(self, hidden=32, lr=3e-3, epochs=60, batch_size=32, seed=0):
        tf.random.set_seed(seed)
        self.epochs = epochs
        self.batch_size = batch_size
        self.net = tf.keras.Sequential(
            [
                tf.keras.Input((10,)),
                tf.keras.layers.Dense(hidden, activation="tanh"),
                tf.keras.layers.Dense(hidden // 2, activation="tanh"),
                tf.keras.layers.Dense(1),
            ]
        )
        self.optimizer = tf.keras.optimizers.Adam(lr)
        self.x_scaler = StandardScaler()
        self.y_mean = 0.0
        self.y_std = 1.0
        self.log = []

    @tf.function
    def _step(self, x, y):
        with tf.GradientTape() as tape:
            pred = self.net(x, training=True)
            loss = tf.reduce_mean(tf.square(pred[:, 0] - y))
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss

    def fit(self, X, y):
        X = self.x_scaler.fit_transform(X).astype("float32")
        self.y_mean, self.y_std = float(y.mean()), float(y.std())
        target = ((y - self.y_mean) / self.y_std).astype("float32")
        batches = (
            tf.data.Dataset.from_tensor_slices((X, target))
            .shuffle(len(X), seed=1)
            .batch(self.batch_size, drop_remainder=True)
        )
        for epoch in range(self.epochs):
            losses = [float(self._step(bx, by)) for bx, by in batches]
            self.log.append(np.mean(losses))
            if epoch % 10 == 0:
                print(f"epoch {epoch:3d}  mse {self.log[-1]:.4f}")
        return self

    def predict(self, X):
        X = self.x_scaler.transform(X).astype("float32")
        out = self.net(X, training=False).numpy().ravel()
        return out * self.y_std + self.y_mean


def main():
    data = load_diabetes()
    X_train, X_test, y_train, y_test = train_test_split(
        data.data, data.target, test_size=0.25, random_state=11
    )
    model = ProgressionRegressor().fit(X_train, y_train)
    pred = model.predict(X_test)
    print(f"last training mse {model.log[-1]:.4f}")
    print(f"test r2  {r2_score(y_test, pred):.4f}")
    print(f"test mae {mean_absolute_error(y_test, pred):.2f}")
    print(f"mae of the mean {np.mean(np.abs(y_test - y_train.mean())):.2f}")
    print(f"spread of predictions {pred.std():.2f}, of targets {y_test.std():.2f}")


if __name__ == "__main__":
    main()
