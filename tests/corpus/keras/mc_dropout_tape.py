import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import load_diabetes
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

ACCUMULATE = 4
MICRO_BATCH = 9
PASSES = 40


class DropoutRegressor:
    def __init__(self, n_features, rate=0.15, lr=5e-3):
        self.net = keras.Sequential([
            layers.Input((n_features,)),
            layers.Dense(48, activation="relu"),
            layers.Dropout(rate),
            layers.Dense(24, activation="relu"),
            layers.Dropout(rate),
            layers.Dense(1),
        ])
        self.opt = keras.optimizers.AdamW(lr, weight_decay=1e-3)
        self.bank = [tf.Variable(tf.zeros_like(v), trainable=False)
                     for v in self.net.trainable_variables]

    @tf.function
    def _collect(self, xb, yb):
        with tf.GradientTape() as tape:
            err = yb - tf.squeeze(self.net(xb, training=True), -1)
            loss = tf.reduce_mean(tf.square(err)) / ACCUMULATE
        for slot, g in zip(self.bank, tape.gradient(loss, self.net.trainable_variables)):
            slot.assign_add(g)
        return loss * ACCUMULATE

    def _apply(self):
        self.opt.apply_gradients(
            zip([tf.convert_to_tensor(b) for b in self.bank], self.net.trainable_variables))
        for slot in self.bank:
            slot.assign(tf.zeros_like(slot))

    def fit(self, x, y, epochs):
        ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x)).batch(
            MICRO_BATCH, drop_remainder=True)
        for epoch in range(epochs):
            losses = []
            for i, (xb, yb) in enumerate(ds, start=1):
                losses.append(float(self._collect(xb, yb)))
                if i % ACCUMULATE == 0:
                    self._apply()
            if epoch % 10 == 0:
                print(f"epoch {epoch} loss {np.mean(losses):.4f}")

    def sample(self, x):
        draws = [self.net(x, training=True).numpy().ravel() for _ in range(PASSES)]
        return np.mean(draws, 0), np.std(draws, 0)


def main():
    keras.utils.set_random_seed(23)
    data = load_diabetes()
    x = (data.data / data.data.std(0)).astype("float32")
    y = data.target.astype("float32")
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.25, random_state=4)
    mu, sd = y_tr.mean(), y_tr.std()

    model = DropoutRegressor(x.shape[1])
    model.fit(x_tr, (y_tr - mu) / sd, epochs=41)
    mean, spread = model.sample(x_te)
    pred = mean * sd + mu
    print("test R2", round(r2_score(y_te, pred), 4))
    print("rmse", round(float(np.sqrt(np.mean((pred - y_te) ** 2))), 2),
          "rmse of the mean", round(float(np.sqrt(np.mean((mu - y_te) ** 2))), 2))
    print("average predictive spread", round(float(spread.mean() * sd), 2))


if __name__ == "__main__":
    main()
