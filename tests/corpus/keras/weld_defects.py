"""Find rare weld defects in process data; recall matters more than accuracy."""
import argparse

import keras
import numpy as np
from keras import layers
from sklearn.metrics import average_precision_score, roc_auc_score


def welds(n, seed):
    rng = np.random.default_rng(seed)
    current = rng.normal(180, 15, n)
    voltage = rng.normal(24, 1.5, n)
    speed = rng.normal(7, 0.8, n)
    gas = rng.normal(14, 2, n)
    humidity = rng.uniform(20, 90, n)
    heat = current * voltage / speed
    z = (heat - 620) / 90
    risk = -7.0 + 1.1 * z**2 + 0.9 * np.maximum(0, 12 - gas) + 0.02 * (humidity - 50)
    bad = rng.random(n) < 1 / (1 + np.exp(-risk))
    x = np.stack([current, voltage, speed, gas, humidity], axis=1).astype("float32")
    return x, bad.astype("float32")


def network(x, width):
    norm = layers.Normalization()
    norm.adapt(x)
    net = keras.Sequential(
        [
            keras.Input(shape=(x.shape[1],)),
            norm,
            layers.Dense(width, activation="gelu"),
            layers.Dense(width, activation="gelu"),
            layers.Dense(1),
        ]
    )
    net.compile(
        optimizer=keras.optimizers.AdamW(2e-3, weight_decay=1e-3),
        loss=keras.losses.BinaryCrossentropy(from_logits=True),
        metrics=[keras.metrics.BinaryAccuracy(threshold=0.0, name="acc")],
    )
    return net


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=15)
    p.add_argument("--width", type=int, default=32)
    args = p.parse_args()
    keras.utils.set_random_seed(12)
    x, y = welds(8000, 0)
    x_test, y_test = welds(3000, 1)
    rate = y.mean()
    weights = {0: 0.5 / (1 - rate), 1: 0.5 / rate}
    print(f"defect rate {rate:.3f}  weights {weights[0]:.2f} / {weights[1]:.2f}")
    net = network(x, args.width)
    log = net.fit(x, y, epochs=args.epochs, batch_size=128, class_weight=weights, verbose=0).history
    for e in range(0, args.epochs, 3):
        print(f"epoch {e:2d}  loss {log['loss'][e]:.4f}  acc {log['acc'][e]:.3f}")

    score = net.predict(x_test, verbose=0)[:, 0]
    flagged = score > 0
    print(f"accuracy {np.mean(flagged == (y_test > 0)):.3f}  (never flagging {1 - y_test.mean():.3f})")
    print(f"recall {flagged[y_test > 0].mean():.3f}  false alarms {flagged[y_test == 0].mean():.3f}")
    print(
        f"ROC AUC {roc_auc_score(y_test, score):.3f}  "
        f"average precision {average_precision_score(y_test, score):.3f}  (chance {y_test.mean():.3f})"
    )


if __name__ == "__main__":
    main()
