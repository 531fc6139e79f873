import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
from transformers import DistilBertConfig, TFDistilBertModel

GOOD = "great lovely crisp moving clever warm superb".split()
BAD = "dull awful flat tedious clumsy cold dreadful".split()
REST = "the film plot actor scene was felt rather quite and with ending music a story".split()
VOCAB = ["<pad>", "<cls>"] + REST + GOOD + BAD
LEN = 18


def reviews(n, rng):
    ids = np.zeros((n, LEN), np.int32)
    y = rng.integers(0, 2, n).astype(np.float32)
    for i in range(n):
        m = rng.integers(8, LEN - 1)
        text = list(rng.choice(REST, m))
        spots = rng.permutation(m)[:5]
        main, other = (GOOD, BAD) if y[i] else (BAD, GOOD)
        for j, s in enumerate(spots):
            text[s] = rng.choice(main if j < 3 else other)
        ids[i, 0] = 1
        ids[i, 1 : m + 1] = [VOCAB.index(w) for w in text]
    return ids, y


class Sentiment(tf.keras.Model):
    def __init__(self, cfg):
        super().__init__()
        self.body = TFDistilBertModel(cfg)
        self.head = tf.keras.Sequential([
            tf.keras.layers.Dense(32, activation="gelu"),
            tf.keras.layers.Dense(1),
        ])

    def call(self, ids, training=False):
        mask = tf.cast(ids != 0, tf.int32)
        h = self.body(input_ids=ids, attention_mask=mask, training=training).last_hidden_state
        m = tf.cast(mask, tf.float32)[..., None]
        pooled = tf.reduce_sum(h * m, 1) / tf.reduce_sum(m, 1)
        return self.head(pooled)[:, 0]


def main():
    tf.keras.utils.set_random_seed(17)
    rng = np.random.default_rng(17)
    x, y = reviews(2400, rng)
    xt, yt = reviews(500, rng)
    net = Sentiment(DistilBertConfig(vocab_size=len(VOCAB), dim=48, n_layers=2, n_heads=4,
                                     hidden_dim=96, max_position_embeddings=LEN))
    net(x[:2])
    body_vars = net.body.trainable_variables
    head_vars = net.head.trainable_variables
    opt_body = tf.keras.optimizers.Adam(4e-4)
    opt_head = tf.keras.optimizers.SGD(0.05, momentum=0.9)

    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            z = net(xb, training=True)
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=yb, logits=z))
        g = tape.gradient(loss, body_vars + head_vars)
        opt_body.apply_gradients(zip(g[: len(body_vars)], body_vars))
        opt_head.apply_gradients(zip(g[len(body_vars) :], head_vars))
        return loss

    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(2400, seed=17).batch(32, drop_remainder=True)
    for ep in range(6):
        ls = [float(step(a, b)) for a, b in ds]
        acc = np.mean((net(xt).numpy() > 0) == (yt > 0.5))
        print(f"epoch {ep} loss {np.mean(ls):.4f} acc {acc:.3f}")


main()
