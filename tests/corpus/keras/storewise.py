import argparse
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import pandas as pd
import tensorflow as tf
from tensorflow import keras


def parse_args():
    p = argparse.ArgumentParser(description="daily turnover per store")
    p.add_argument("--stores", type=int, default=30)
    p.add_argument("--days", type=int, default=120)
    p.add_argument("--epochs", type=int, default=25)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--seed", type=int, default=4)
    return p.parse_args()


def simulate(args):
    rng = np.random.default_rng(args.seed)
    rows = []
    for s in range(args.stores):
        area = rng.uniform(80, 900)
        staff = area / 60 + rng.normal(0, 1)
        footfall = rng.uniform(0.5, 3.0)
        for d in range(args.days):
            promo = rng.random() < 0.2
            rain = rng.gamma(1.0, 3.0)
            weekend = d % 7 >= 5
            sales = (0.004 * area + 0.5 * footfall + 0.3 * promo + 0.25 * weekend
                     - 0.03 * rain + 0.1 * promo * footfall + rng.normal(0, 0.15))
            rows.append((s, d, area, staff, footfall, promo, rain, weekend, sales))
    return pd.DataFrame(rows, columns=["store", "day", "area", "staff", "footfall",
                                       "promo", "rain", "weekend", "log_sales"])


def build(n_features):
    return keras.Sequential([
        keras.Input((n_features,)),
        keras.layers.Dense(48),
        keras.layers.BatchNormalization(momentum=0.9),
        keras.layers.ReLU(),
        keras.layers.Dense(24),
        keras.layers.BatchNormalization(momentum=0.9),
        keras.layers.ReLU(),
        keras.layers.Dense(1),
    ])


def run_batch(model, x, y, optimizer=None):
    with tf.GradientTape() as tape:
        pred = tf.squeeze(model(x, training=True), -1)
        loss = tf.reduce_mean(tf.square(pred - y))
    if optimizer is not None:
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, pred


def main():
    args = parse_args()
    keras.utils.set_random_seed(args.seed)
    df = simulate(args)
    cols = ["area", "staff", "footfall", "promo", "rain", "weekend"]
    train = df[df.day < args.days * 3 // 4]
    test = df[df.day >= args.days * 3 // 4]
    mean, std = train[cols].mean(), train[cols].std()
    prep = lambda d: ((d[cols] - mean) / std).to_numpy("float32")

    model = build(len(cols))
    optimizer = keras.optimizers.Adam(args.lr)
    optimizer.build(model.trainable_variables)
    train_batch = tf.function(lambda x, y: run_batch(model, x, y, optimizer))
    ds = tf.data.Dataset.from_tensor_slices(
        (prep(train), train.log_sales.to_numpy("float32"))
    ).shuffle(5000, seed=args.seed).batch(args.batch_size, drop_remainder=True)
    for epoch in range(args.epochs):
        losses = [float(train_batch(x, y)[0]) for x, y in ds]
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1} mse {np.mean(losses):.4f}")

    preds = []
    for store, part in test.groupby("store", sort=True):
        y = part.log_sales.to_numpy("float32")
        loss, pred = run_batch(model, prep(part), y)
        preds.append(pd.Series(pred.numpy(), index=part.index))
    pred = pd.concat(preds).reindex(test.index)
    err = pred - test.log_sales
    r2 = 1 - (err ** 2).sum() / ((test.log_sales - train.log_sales.mean()) ** 2).sum()
    print(f"test mse {np.mean(err ** 2):.4f}  mae {err.abs().mean():.4f}  R2 {r2:.4f}")


if __name__ == "__main__":
    main()
