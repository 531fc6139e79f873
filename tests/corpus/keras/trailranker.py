"""RankNet for hiking trails: learn a score from pairs 'hiker preferred A over B', judged by how well held-out trails are ordered."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)
N_TRAILS, N_FEATS, STEPS, BATCH = 1500, 9, 60, 128


def make_trails():
    f = rng.normal(size=(N_TRAILS, N_FEATS)).astype("float32")
    joy = 1.6 * f[:, 0] - 1.2 * np.abs(f[:, 1]) + 0.9 * f[:, 2] * f[:, 3] + 1.1 * np.tanh(2 * f[:, 4]) - 0.7 * f[:, 5]
    return f, joy


def pair_stream(feats, joy, pool):
    while True:
        a, b = rng.choice(pool, BATCH), rng.choice(pool, BATCH)
        p = 1 / (1 + np.exp(-2.0 * (joy[a] - joy[b])))
        yield (feats[a], feats[b]), (rng.random(BATCH) < p).astype("float32")


class Scorer(layers.Layer):
    def __init__(self, width=48):
        super().__init__()
        self.hidden = [layers.Dense(width, activation="silu") for _ in range(2)]
        self.out = layers.Dense(1)

    def call(self, x):
        for layer in self.hidden:
            x = layer(x)
        return self.out(x)[:, 0]


class RankNet(keras.Model):
    def __init__(self, scorer, label_smoothing=0.0):
        super().__init__()
        self.scorer = scorer
        self.pair_loss = keras.losses.BinaryCrossentropy(label_smoothing=label_smoothing)
        self.loss_mean = keras.metrics.Mean(name="pair_loss")
        self.agree = keras.metrics.Mean(name="agree")

    @property
    def metrics(self):
        return [self.loss_mean, self.agree]

    def call(self, pair):
        a, b = pair
        return self.scorer(a) - self.scorer(b)

    def train_step(self, data):
        pair, first_wins = data
        with tf.GradientTape() as tape:
            margin = self(pair, training=True)
            loss = self.pair_loss(first_wins, margin)
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        self.loss_mean.update_state(loss)
        self.agree.update_state(tf.equal(margin > 0, first_wins > 0.5))
        return {m.name: m.result() for m in self.metrics}


def kendall(a, b):
    s = np.sign(a[:, None] - a[None]) * np.sign(b[:, None] - b[None])
    return s.sum() / (len(a) * (len(a) - 1))


def main():
    feats, joy = make_trails()
    order = rng.permutation(N_TRAILS)
    train_pool, test_pool = order[:1200], order[1200:]
    spec = tf.TensorSpec((BATCH, N_FEATS), tf.float32)
    ds = tf.data.Dataset.from_generator(lambda: pair_stream(feats, joy, train_pool),
                                        output_signature=((spec, spec), tf.TensorSpec((BATCH,), tf.float32))).prefetch(2)
    model = RankNet(Scorer(), label_smoothing=0.02)
    model.compile(optimizer=keras.optimizers.Adam(3e-3), jit_compile=False)
    hist = model.fit(ds, steps_per_epoch=STEPS, epochs=12, verbose=0, shuffle=False).history
    print("pair loss", [round(v, 3) for v in hist["pair_loss"]])
    print("agreement", [round(v, 3) for v in hist["agree"]])
    scores = model.scorer(feats[test_pool]).numpy()
    top = np.argsort(-scores)[:30]
    print(f"kendall tau {kendall(scores, joy[test_pool]):.3f}  mean joy of top 30 {joy[test_pool][top].mean():.2f} (best {np.sort(joy[test_pool])[-30:].mean():.2f})")


main()
