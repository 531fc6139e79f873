"""Map word vectors of one language into another's space and look up translations."""
import dataclasses

import keras
import numpy as np
import tensorflow as tf
from keras import layers, losses


@dataclasses.dataclass
class Settings:
    words: int = 3000
    held_out: int = 400
    dim_a: int = 40
    dim_b: int = 32
    hidden: int = 128
    epochs: int = 30
    batch: int = 100
    lr: float = 2e-3
    seed: int = 9


def make_vectors(cfg):
    rng = np.random.default_rng(cfg.seed)
    latent = rng.normal(size=(cfg.words, 24))
    a = np.tanh(latent @ rng.normal(size=(24, cfg.dim_a)) * 0.3)
    b = latent @ rng.normal(size=(24, cfg.dim_b)) * 0.3
    a += 0.05 * rng.normal(size=a.shape)
    b += 0.05 * rng.normal(size=b.shape)
    return a.astype("float32"), b.astype("float32")


class Bridge(keras.Model):
    def __init__(self, cfg):
        super().__init__()
        self.up = layers.Dense(cfg.hidden, activation="gelu")
        self.norm = layers.LayerNormalization()
        self.down = layers.Dense(cfg.dim_b)

    def call(self, x):
        return self.down(self.norm(self.up(x)))


def retrieval(model, a, b):
    q = model.predict(a, verbose=0)
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    k = b / np.linalg.norm(b, axis=1, keepdims=True)
    sims = q @ k.T
    rank = (sims > np.diag(sims)[:, None]).sum(1)
    return (rank == 0).mean(), (rank < 10).mean(), 1.0 / (rank + 1.0).mean()


def main(cfg):
    keras.utils.set_random_seed(cfg.seed)
    a, b = make_vectors(cfg)
    cut = cfg.words - cfg.held_out
    model = Bridge(cfg)
    opt = keras.optimizers.Adam(cfg.lr)
    ds = tf.data.Dataset.from_tensor_slices((a[:cut], b[:cut])).shuffle(cut).batch(cfg.batch)

    @tf.function
    def step(xa, xb):
        with tf.GradientTape() as tape:
            mapped = model(xa, training=True)
            loss = tf.reduce_mean(1.0 + losses.cosine_similarity(xb, mapped))
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    for epoch in range(cfg.epochs):
        total = keras.metrics.Mean()
        for xa, xb in ds:
            total.update_state(step(xa, xb))
        if epoch % 5 == 4:
            p1, p10, _ = retrieval(model, a[cut:], b[cut:])
            print(f"epoch {epoch + 1:3d} loss {float(total.result()):.4f} p@1 {p1:.3f} p@10 {p10:.3f}")

    p1, p10, mr = retrieval(model, a[cut:], b[cut:])
    print(f"held-out words: p@1 {p1:.3f}, p@10 {p10:.3f}, 1/mean rank {mr:.4f}")


if __name__ == "__main__":
    main(Settings())
