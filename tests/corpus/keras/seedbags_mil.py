"""Which seed lots hold weed seeds? Multiple-instance learning with gated attention over the grains of a bag."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import keras
import tensorflow as tf
from keras import layers, ops

CFG = dict(seed=5, bags=2400, grains=24, feats=10, hidden=32, attn=16, batch=32, epochs=12, lr=2e-3)


def draw_bags(cfg, rng):
    grains = rng.normal(size=(cfg["bags"], cfg["grains"], cfg["feats"]))
    y = rng.integers(0, 2, cfg["bags"])
    weed = np.zeros((cfg["bags"], cfg["grains"]), bool)
    for b in np.flatnonzero(y):
        weed[b, rng.choice(cfg["grains"], rng.integers(1, 3), replace=False)] = True
    grains[weed] += np.r_[2.2, -2.0, 1.8, np.zeros(cfg["feats"] - 3)]
    return grains.astype("float32"), y.astype("float32"), weed


class GatedAttention(layers.Layer):
    """Ilse et al. 2018: one weight per instance, weighted mean of the instances."""

    def __init__(self, units):
        super().__init__()
        self.v = layers.Dense(units, activation="tanh")
        self.u = layers.Dense(units, activation="sigmoid")
        self.w = layers.Dense(1)

    def weights_of(self, h):
        return tf.nn.softmax(self.w(self.v(h) * self.u(h)), axis=0)

    def call(self, h):
        return ops.sum(self.weights_of(h) * h, axis=1)


class BagModel(keras.Model):
    def __init__(self, cfg):
        super().__init__()
        self.embed = keras.Sequential([layers.Dense(cfg["hidden"], activation="relu"),
                                       layers.Dense(cfg["hidden"], activation="relu")])
        self.pool = GatedAttention(cfg["attn"])
        self.head = layers.Dense(1)

    def call(self, bags):
        return self.head(self.pool(self.embed(bags)))[:, 0]

    def attention(self, bags):
        return self.pool.weights_of(self.embed(bags))[..., 0]


def train(model, ds, cfg):
    opt = keras.optimizers.Adam(cfg["lr"])
    bce = keras.losses.BinaryCrossentropy(from_logits=True)
    model(np.zeros((2, cfg["grains"], cfg["feats"]), "float32"))
    opt.build(model.trainable_variables)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = bce(y, model(x, training=True))
        opt.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss

    for epoch in range(cfg["epochs"]):
        mean = np.mean([float(step(x, y)) for x, y in ds])
        if epoch % 3 == 2:
            print(f"epoch {epoch + 1:2d}  loss {mean:.3f}")


def main(cfg=CFG):
    keras.utils.set_random_seed(cfg["seed"])
    x, y, weed = draw_bags(cfg, np.random.default_rng(cfg["seed"]))
    n = cfg["bags"] - 400
    ds = tf.data.Dataset.from_tensor_slices((x[:n], y[:n])).shuffle(n).batch(cfg["batch"], drop_remainder=True)
    model = BagModel(cfg)
    train(model, ds, cfg)
    # lots come to the lab one at a time
    one = tf.function(model.call, input_signature=[tf.TensorSpec((1, cfg["grains"], cfg["feats"]))])
    logits = np.array([float(one(x[i:i + 1])[0]) for i in range(n, len(x))])
    hits = [weed[i, np.argmax(model.attention(x[i:i + 1])[0])] for i in range(n, len(x)) if y[i]]
    print(f"test accuracy {np.mean((logits > 0) == y[n:]):.3f}   top grain is a weed {np.mean(hits):.3f}")


if __name__ == "__main__":
    main()
