import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
from dataclasses import dataclass
import numpy as np
import keras
from keras import layers, ops


@dataclass
class Config:
    users: int = 400
    items: int = 250
    observed: int = 24000
    rank: int = 5
    l2: float = 2e-3
    lr: float = 0.3
    batch_size: int = 128
    epochs: int = 20
    seed: int = 47


def make_ratings(cfg):
    rng = np.random.default_rng(cfg.seed)
    p, q = rng.normal(0, .7, (cfg.users + 1, 3)), rng.normal(0, .7, (cfg.items + 1, 3))
    bu, bi = rng.normal(0, .4, cfg.users + 1), rng.normal(0, .5, cfg.items + 1)
    cells = rng.choice(cfg.users * cfg.items, cfg.observed, replace=False)
    user, item = cells // cfg.items + 1, cells % cfg.items + 1
    raw = 3.4 + bu[user] + bi[item] + (p[user] * q[item]).sum(1) + rng.normal(0, .4, cfg.observed)
    stars = np.clip(np.round(2 * raw) / 2, 0.5, 5.0)
    order = np.argsort(user, kind="stable")
    return user[order], item[order], stars[order].astype("float32")


class Factoriser(keras.Model):
    def __init__(self, cfg, mean):
        super().__init__()
        self.mean = mean
        reg = keras.regularizers.L2(cfg.l2 / cfg.batch_size)
        small = keras.initializers.RandomNormal(stddev=0.05)
        self.user_vec = layers.Embedding(cfg.users + 1, cfg.rank, embeddings_initializer=small)
        self.item_vec = layers.Embedding(cfg.items + 1, cfg.rank, embeddings_initializer=small)
        self.user_bias = layers.Embedding(cfg.users + 1, 1, embeddings_initializer="zeros", embeddings_regularizer=reg)
        self.item_bias = layers.Embedding(cfg.items + 1, 1, embeddings_initializer="zeros", embeddings_regularizer=reg)

    def call(self, inputs):
        user, item = inputs["user"], inputs["item"]
        match = ops.sum(self.user_vec(user) * self.item_vec(item), axis=-1, keepdims=True)
        return self.mean + match + self.user_bias(user) + self.item_bias(item)


def rmse(a, b):
    return float(np.sqrt(np.mean((a - b) ** 2)))


def main(cfg):
    keras.utils.set_random_seed(cfg.seed)
    user, item, stars = make_ratings(cfg)
    turn = np.arange(len(stars)) % 8
    parts = {"train": turn > 1, "val": turn == 1, "test": turn == 0}
    x = {k: {"user": user[m], "item": item[m]} for k, m in parts.items()}
    y = {k: stars[m][:, None] for k, m in parts.items()}

    mean = float(y["train"].mean())
    model = Factoriser(cfg, mean)
    model.compile(optimizer=keras.optimizers.Adagrad(cfg.lr), loss="mse")
    stop = keras.callbacks.EarlyStopping(monitor="val_loss", patience=4, restore_best_weights=True)
    model.fit(x["train"], y["train"], validation_data=(x["val"], y["val"]),
              epochs=cfg.epochs, batch_size=cfg.batch_size, verbose=2, callbacks=[stop])

    guess = np.clip(model.predict(x["test"], batch_size=4096, verbose=0), 0.5, 5.0)
    print("held-out rmse %.3f" % rmse(guess, y["test"]))
    print("rmse of the global mean %.3f" % rmse(mean, y["test"]))


if __name__ == "__main__":
    main(Config())
