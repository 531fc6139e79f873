"""Time to relapse after remission: Cox regression with a small network."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import logging
from dataclasses import dataclass

import numpy as np
import pandas as pd
from tensorflow import keras
from tensorflow.keras import layers, ops

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("remission")


@dataclass
class Config:
    patients: int = 2400
    follow_up: float = 5.0
    batch_size: int = 256
    epochs: int = 30
    lr: float = 4e-3
    weight_decay: float = 1e-3
    seed: int = 23


def make_cohort(cfg):
    rng = np.random.default_rng(cfg.seed)
    n = cfg.patients
    df = pd.DataFrame({
        "age": rng.normal(58, 12, n),
        "marker": rng.lognormal(1.0, 0.7, n),
        "stage": rng.integers(1, 5, n),
        "dose": rng.uniform(0, 1, n),
        "female": rng.integers(0, 2, n),
        "platelets": rng.normal(250, 60, n),
    })
    risk = (0.06 * (df.age - 58) + 1.4 * np.log(df.marker) + 0.5 * (df.stage - 2.5)
            - 1.2 * df.dose * (df.stage < 3) + 0.6 * (np.abs(df.platelets - 250) > 70))
    hazard = 0.03 * np.exp(risk)
    relapse = rng.exponential(1 / hazard)
    leaves = rng.uniform(1.0, cfg.follow_up, n)
    df["time"] = np.minimum(relapse, leaves)
    df["event"] = (relapse <= leaves).astype("float32")
    return df


def partial_likelihood(y_true, risk):
    """Negative Cox log partial likelihood of the patients in the batch (Breslow ties)."""
    time, event = y_true[:, 0], y_true[:, 1]
    order = ops.argsort(-time)
    risk = ops.take(ops.reshape(risk, (-1,)), order)
    event = ops.take(event, order)
    top = ops.stop_gradient(ops.max(risk))
    at_risk = ops.log(ops.cumsum(ops.exp(risk - top))) + top
    return -ops.sum((risk - at_risk) * event) / ops.maximum(ops.sum(event), 1.0)


def concordance(time, event, risk):
    earlier = (time[:, None] < time[None, :]) & (event[:, None] == 1)
    right = (risk[:, None] > risk[None, :]) & earlier
    tied = (risk[:, None] == risk[None, :]) & earlier
    return (right.sum() + 0.5 * tied.sum()) / earlier.sum()


class Concordance(keras.callbacks.Callback):
    def __init__(self, x, y, every=5):
        super().__init__()
        self.x, self.y, self.every = x, y, every

    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % self.every == 0 or epoch == 0:
            risk = self.model.predict(self.x, verbose=0)[:, 0]
            log.info("epoch %2d  loss %.3f  val_loss %.3f  val C-index %.3f", epoch + 1, logs["loss"],
                     logs["val_loss"], concordance(self.y[:, 0], self.y[:, 1], risk))


def build(cfg, x_train):
    norm = layers.Normalization()
    norm.adapt(x_train)
    return keras.Sequential([
        keras.Input((x_train.shape[1],)),
        norm,
        layers.Dense(32, activation="selu", kernel_initializer="lecun_normal"),
        layers.AlphaDropout(0.1),
        layers.Dense(32, activation="selu", kernel_initializer="lecun_normal"),
        layers.Dense(1, use_bias=False, kernel_initializer="zeros"),
    ])


def main():
    cfg = Config()
    keras.utils.set_random_seed(cfg.seed)
    df = make_cohort(cfg).sort_values("time", ascending=False).reset_index(drop=True)
    log.info("%d patients, %d relapses", len(df), int(df.event.sum()))
    fold = np.arange(len(df)) % 5
    features = ["age", "marker", "stage", "dose", "female", "platelets"]

    def part(mask):
        return df.loc[mask, features].to_numpy("float32"), df.loc[mask, ["time", "event"]].to_numpy("float32")

    x_train, y_train = part(fold < 3)
    x_val, y_val = part(fold == 3)
    x_test, y_test = part(fold == 4)

    model = build(cfg, x_train)
    model.compile(optimizer=keras.optimizers.AdamW(cfg.lr, weight_decay=cfg.weight_decay), loss=partial_likelihood)
    model.fit(x_train, y_train, validation_data=(x_val, y_val), epochs=cfg.epochs, batch_size=cfg.batch_size,
              validation_batch_size=len(x_val), verbose=0,
              callbacks=[Concordance(x_val, y_val),
                         keras.callbacks.EarlyStopping(patience=8, restore_best_weights=True)])

    risk = model.predict(x_test, verbose=0)[:, 0]
    log.info("test C-index %.3f", concordance(y_test[:, 0], y_test[:, 1], risk))
    high = risk > np.median(risk)
    log.info("relapsed: high risk %.3f  low risk %.3f", y_test[high, 1].mean(), y_test[~high, 1].mean())


if __name__ == "__main__":
    main()
