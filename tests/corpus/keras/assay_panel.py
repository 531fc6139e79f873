"""One network for five assays; most molecules were measured in only some of them."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

N_ASSAYS = 5


def simulate(n, rng):
    x = rng.normal(size=(n, 30)).astype("float32")
    w = np.random.default_rng(99).normal(size=(30, N_ASSAYS)) / np.sqrt(30)
    y = np.tanh(x @ w) + 0.3 * (x[:, :N_ASSAYS] ** 2 - 1) + rng.normal(0, 0.1, (n, N_ASSAYS))
    full = y.astype("float32")
    seen = full.copy()
    seen[rng.random(full.shape) < 0.45] = np.nan
    return x, seen, full


@keras.saving.register_keras_serializable()
def observed_mse(y_true, y_pred):
    known = tf.math.is_finite(y_true)
    safe = tf.where(known, y_true, y_pred)
    sq = tf.square(safe - y_pred)
    return tf.reduce_sum(sq) / tf.maximum(tf.reduce_sum(tf.cast(known, sq.dtype)), 1.0)


def batches(x, y, batch_size, rng):
    while True:
        order = rng.permutation(len(x))
        for i in range(0, len(x) - batch_size + 1, batch_size):
            j = order[i:i + batch_size]
            yield x[j], y[j]


def main():
    keras.utils.set_random_seed(30)
    rng = np.random.default_rng(30)
    x, y, _ = simulate(3000, rng)
    x_te, _, y_te = simulate(500, rng)
    print("share of missing targets", round(float(np.isnan(y).mean()), 3))

    model = keras.Sequential([
        keras.Input((30,)),
        layers.Dense(64, activation="gelu"),
        layers.Dense(64, activation="gelu"),
        layers.Dense(N_ASSAYS),
    ])
    model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=observed_mse)
    model.fit(batches(x, y, 64, rng), steps_per_epoch=46, epochs=20, verbose=2)

    pred = model.predict(x_te, verbose=0)
    r2 = 1 - ((y_te - pred) ** 2).sum(0) / ((y_te - y_te.mean(0)) ** 2).sum(0)
    print("R2 per assay", np.round(r2, 3))
    print(f"mean R2 {r2.mean():.3f}")


main()
