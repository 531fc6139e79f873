"""Shadow angle from sundial photographs (features): Monte Carlo dropout, so that the model can say when it does not know."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import argparse

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


def readings(n, rng, lo=-1.0, hi=1.0):
    season = rng.uniform(lo, hi, n)
    hour = rng.uniform(-1, 1, n)
    tilt = rng.normal(0, 0.3, n)
    angle = np.tanh(2 * hour) + 0.5 * hour * season + 0.4 * np.sin(3 * season) + 0.3 * tilt
    x = np.stack([season, hour, tilt], 1)
    return x.astype("float32"), (angle + rng.normal(0, 0.05, n)).astype("float32")[:, None]


class AlwaysDropNet(keras.Model):
    def __init__(self, width, rate):
        super().__init__()
        self.dense = [layers.Dense(width, activation="relu") for _ in range(3)]
        self.drop = [layers.Dropout(rate) for _ in range(3)]
        self.out = layers.Dense(1)

    def call(self, x, training=None):
        for dense, drop in zip(self.dense, self.drop):
            x = drop(dense(x), training=training)
        return self.out(x)


def sample_predictions(model, x, passes):
    draw = tf.function(lambda b: model(b, training=True))
    return np.stack([draw(x).numpy()[:, 0] for _ in range(passes)])


def auroc(neg, pos):
    ranks = np.concatenate([neg, pos]).argsort().argsort() + 1
    return (ranks[len(neg):].sum() - len(pos) * (len(pos) + 1) / 2) / (len(neg) * len(pos))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--passes", type=int, default=40)
    p.add_argument("--rate", type=float, default=0.1)
    p.add_argument("--epochs", type=int, default=25)
    args = p.parse_args()
    keras.utils.set_random_seed(2)
    rng = np.random.default_rng(2)
    x, y = readings(3000, rng)
    x_in, y_in = readings(500, rng)
    x_out, _ = readings(500, rng, 2.0, 3.0)

    model = AlwaysDropNet(64, args.rate)
    opt, mse = keras.optimizers.Adam(2e-3), keras.losses.MeanSquaredError()
    model(x[:1])
    opt.build(model.trainable_variables)

    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            loss = mse(yb, model(xb, training=True))
        opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(3000).batch(64, drop_remainder=True)
    for epoch in range(args.epochs):
        losses = [step(xb, yb) for xb, yb in ds]
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1:2d}  mse with dropout {float(tf.reduce_mean(losses)):.4f}")

    inside, outside = sample_predictions(model, x_in, args.passes), sample_predictions(model, x_out, args.passes)
    r2 = 1 - np.mean((inside.mean(0) - y_in[:, 0]) ** 2) / y_in.var()
    print(f"R2 of the mean of {args.passes} passes {r2:.3f}")
    print(f"spread of the passes: known seasons {inside.std(0).mean():.3f}, unseen seasons {outside.std(0).mean():.3f}, "
          f"AUROC {auroc(inside.std(0), outside.std(0)):.3f}")


if __name__ == "__main__":
    main()
