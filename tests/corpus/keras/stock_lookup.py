"""Reader that answers 'how many of item X are on this shelf list?' by attending over the rows of the list."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
from dataclasses import dataclass
import numpy as np
import keras
from keras import layers, ops


@dataclass
class Config:
    n_items: int = 40
    n_levels: int = 8
    rows: int = 10
    dim: int = 48
    n_train: int = 12000
    n_test: int = 2000
    epochs: int = 14
    batch: int = 128
    lr: float = 4e-3
    seed: int = 3


class RowReader(layers.Layer):
    """Scaled dot-product of one question against every row."""

    def __init__(self, dim, **kw):
        super().__init__(**kw)
        self.dim = dim
        self.q = layers.Dense(dim, use_bias=False)
        self.k = layers.Dense(dim, use_bias=False)
        self.v = layers.Dense(dim)

    def call(self, question, keys, values):
        q = self.q(question)[:, None, :]
        k = self.k(keys)
        v = self.v(values)
        scores = ops.matmul(q, ops.transpose(k, (0, 2, 1))) / self.dim ** 0.5
        weights = ops.softmax(scores, axis=1)
        return ops.squeeze(ops.matmul(weights, v), axis=1)


def sample(cfg, n, rng):
    items = np.stack([rng.choice(cfg.n_items, cfg.rows, replace=False) for _ in range(n)])
    levels = rng.integers(0, cfg.n_levels, size=(n, cfg.rows))
    pick = rng.integers(0, cfg.rows, size=n)
    ask = items[np.arange(n), pick]
    answer = levels[np.arange(n), pick]
    return {"items": items, "levels": levels, "ask": ask}, answer


def build(cfg):
    items = keras.Input((cfg.rows,), dtype="int32", name="items")
    levels = keras.Input((cfg.rows,), dtype="int32", name="levels")
    ask = keras.Input((), dtype="int32", name="ask")
    item_emb = layers.Embedding(cfg.n_items, cfg.dim)
    level_emb = layers.Embedding(cfg.n_levels, cfg.dim)
    read = RowReader(cfg.dim)(item_emb(ask), item_emb(items), level_emb(levels))
    h = layers.Dense(64, activation="relu")(layers.Concatenate()([read, item_emb(ask)]))
    out = layers.Dense(cfg.n_levels, activation="softmax")(h)
    return keras.Model([items, levels, ask], out)


def main():
    cfg = Config()
    keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    x, y = sample(cfg, cfg.n_train, rng)
    xt, yt = sample(cfg, cfg.n_test, rng)
    model = build(cfg)
    model.compile(keras.optimizers.Adam(cfg.lr), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, validation_data=(xt, yt), epochs=cfg.epochs, batch_size=cfg.batch, verbose=2)
    loss, acc = model.evaluate(xt, yt, verbose=0)
    print(f"answer accuracy {acc:.3f} (guessing {1 / cfg.n_levels:.3f}), loss {loss:.3f}")


if __name__ == "__main__":
    main()
