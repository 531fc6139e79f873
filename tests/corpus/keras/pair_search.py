import os
from dataclasses import dataclass

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
from tensorflow import keras
from tensorflow.keras import layers


@dataclass
class Settings:
    query_dim: int = 40
    item_dim: int = 24
    latent: int = 8
    pairs: int = 3000
    epochs: int = 15
    batch_size: int = 100
    rate: float = 1.0


def pairs(cfg, n, seed):
    world = np.random.default_rng(7)
    to_query = world.normal(size=(cfg.latent, cfg.query_dim)) / 2
    to_item = world.normal(size=(cfg.latent, cfg.item_dim)) / 2
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, cfg.latent))
    query = np.tanh(z @ to_query) + 0.1 * rng.normal(size=(n, cfg.query_dim))
    item = z @ to_item + 0.1 * rng.normal(size=(n, cfg.item_dim))
    return query.astype("float32"), item.astype("float32")


def query_tower(cfg):
    model = keras.Sequential(
        [
            keras.Input((cfg.query_dim,)),
            layers.Dense(96, activation="relu"),
            layers.Dense(96, activation="relu"),
            layers.Dense(cfg.item_dim),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.Adadelta(learning_rate=cfg.rate),
        loss=keras.losses.CosineSimilarity(axis=-1),
    )
    return model


def recall_at(model, query, item, ks):
    a = model.predict(query, verbose=0)
    a /= np.linalg.norm(a, axis=1, keepdims=True)
    b = item / np.linalg.norm(item, axis=1, keepdims=True)
    order = np.argsort(-(a @ b.T), axis=1)
    place = (order == np.arange(len(a))[:, None]).argmax(1)
    return {k: float((place < k).mean()) for k in ks}


def main():
    cfg = Settings()
    keras.utils.set_random_seed(19)
    query, item = pairs(cfg, cfg.pairs, 1)
    q_val, i_val = pairs(cfg, 300, 2)
    q_test, i_test = pairs(cfg, 500, 3)
    model = query_tower(cfg)
    model.fit(query, item, validation_data=(q_val, i_val), epochs=cfg.epochs, batch_size=cfg.batch_size, verbose=2)
    print("final loss on test pairs:", round(float(model.evaluate(q_test, i_test, verbose=0)), 4))
    for k, value in recall_at(model, q_test, i_test, (1, 5, 10)).items():
        print(f"recall@{k}: {value:.3f} (random {k / len(q_test):.3f})")


if __name__ == "__main__":
    main()
