"""Pipe-leak alarms: 4 % positives, focal loss with class weights, ranked by average precision."""
import keras
import numpy as np
from keras import layers
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score

keras.utils.set_random_seed(23)


def readings(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 10))
    x[:, 3] = x[:, 0] * 0.6 + x[:, 3] * 0.8
    score = 2.2 * x[:, 0] * x[:, 1] + 1.5 * np.abs(x[:, 2]) - 1.2 * x[:, 3] ** 2 + x[:, 4]
    score += rng.normal(0, 0.5, n)
    return x.astype("float32"), (score > 4.05).astype("float32")


class AveragePrecision(keras.callbacks.Callback):
    """Scores the validation ranking and keeps the best weights."""

    def __init__(self, x, y):
        super().__init__()
        self.x, self.y, self.best, self.kept = x, y, -1.0, None

    def on_epoch_end(self, epoch, logs=None):
        ap = average_precision_score(self.y, self.model.predict(self.x, verbose=0)[:, 0])
        if ap > self.best:
            self.best, self.kept = ap, self.model.get_weights()
        if epoch % 5 == 0:
            print(f"epoch {epoch:2d} loss {logs['loss']:.4f} val AP {ap:.3f}")

    def on_train_end(self, logs=None):
        self.model.set_weights(self.kept)


def build(prior):
    log_odds = float(np.log(prior / (1 - prior)))
    return keras.Sequential([
        keras.Input((10,)),
        layers.GaussianNoise(0.05),
        layers.Dense(64, activation="swish"),
        layers.Dense(64, activation="swish"),
        layers.Dense(1, activation="sigmoid",
                     bias_initializer=keras.initializers.Constant(log_odds)),
    ])


def main():
    x, y = readings(8000, 0)
    x_val, y_val = readings(2000, 1)
    x_test, y_test = readings(4000, 2)
    prior = float(y.mean())
    print(f"positives: {prior:.3f}")

    model = build(prior)
    model.compile(
        optimizer=keras.optimizers.Nadam(3e-3),
        loss=keras.losses.BinaryFocalCrossentropy(gamma=1.5),
    )
    model.fit(x, y, epochs=26, batch_size=256, verbose=0,
              class_weight={0: 1.0, 1: 6.0}, callbacks=[AveragePrecision(x_val, y_val)])

    prob = model.predict(x_test, verbose=0)[:, 0]
    linear = LogisticRegression(max_iter=500).fit(x, y).predict_proba(x_test)[:, 1]
    print(f"test AP {average_precision_score(y_test, prob):.3f}"
          f"  logistic {average_precision_score(y_test, linear):.3f}"
          f"  random {y_test.mean():.3f}")


if __name__ == "__main__":
    main()
