import argparse

import numpy as np
import pandas as pd
import tensorflow as tf
import keras
from keras import layers
from sklearn.metrics import roc_auc_score


def station_log(n, seed):
    rng = np.random.default_rng(seed)
    pressure = 101325 + rng.normal(0, 700, n)
    tendency = rng.normal(0, 120, n)
    temperature = 285 + rng.normal(0, 6, n)
    humidity = np.clip(rng.normal(68, 14, n), 10, 100)
    wind_dir = rng.uniform(0, 360, n)
    altitude = rng.choice([12.0, 410.0, 1650.0], n)
    score = (
        -1.3 * (pressure - 101325) / 700
        - 1.0 * tendency / 120
        + 1.2 * (humidity - 68) / 14
        + 0.9 * np.sin(np.deg2rad(wind_dir)) * (temperature - 285) / 6
    )
    rain = (score + rng.logistic(0, 0.5, n) > 0.4).astype("float32")
    return pd.DataFrame({
        "pressure": pressure, "tendency": tendency, "temperature": temperature,
        "humidity": humidity, "wind_sin": np.sin(np.deg2rad(wind_dir)),
        "wind_cos": np.cos(np.deg2rad(wind_dir)), "altitude": altitude, "rain": rain,
    })


def rain_net(n_in, hidden):
    inp = keras.Input((n_in,))
    x = layers.BatchNormalization(momentum=0.95)(inp)
    for units in hidden:
        x = layers.Dense(units, use_bias=False)(x)
        x = layers.BatchNormalization(momentum=0.95)(x)
        x = layers.ReLU()(x)
    return keras.Model(inp, layers.Dense(1)(x))


def batches(frame, size, rng):
    order = rng.permutation(len(frame))
    values = frame.drop(columns="rain").to_numpy("float32")
    target = frame["rain"].to_numpy("float32")[:, None]
    for i in range(0, len(order) - size + 1, size):
        take = order[i:i + size]
        yield tf.constant(values[take]), tf.constant(target[take])


def evaluate(net, frame):
    logits = net(frame.drop(columns="rain").to_numpy("float32"), training=False).numpy()[:, 0]
    truth = frame["rain"].to_numpy()
    return roc_auc_score(truth, logits), float(np.mean((logits > 0) == truth))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--hidden", type=int, nargs="+", default=[32, 32])
    args = ap.parse_args()
    keras.utils.set_random_seed(6)

    train, valid, test = station_log(3000, 1), station_log(500, 2), station_log(1000, 3)
    net = rain_net(train.shape[1] - 1, args.hidden)
    optimizer = keras.optimizers.Adam(args.lr)
    bce = keras.losses.BinaryCrossentropy(from_logits=True)

    @tf.function
    def update(x, y):
        with tf.GradientTape() as tape:
            loss = bce(y, net(x, training=True))
        grads = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(grads, net.trainable_variables))
        return loss

    rng = np.random.default_rng(0)
    for epoch in range(args.epochs):
        losses = [float(update(x, y)) for x, y in batches(train, args.batch, rng)]
        auc, acc = evaluate(net, valid)
        print(f"epoch {epoch + 1:2d}  loss {np.mean(losses):.3f}  valid auc {auc:.3f}  acc {acc:.3f}")

    auc, acc = evaluate(net, test)
    share = test["rain"].mean()
    print(f"test auc {auc:.3f}  accuracy {acc:.3f}  majority {max(share, 1 - share):.3f}")


if __name__ == "__main__":
    main()
