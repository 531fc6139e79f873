"""Wide-and-deep click model: FTRL for the sparse crosses, Adam for the embeddings and the tower."""
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(15)
rng = np.random.default_rng(15)
USERS, BANNERS, HOURS, N = 150, 60, 24, 40000

taste_u, taste_b = rng.normal(size=(USERS, 4)), rng.normal(size=(BANNERS, 4))
cross = rng.normal(0, 1.2, (BANNERS, HOURS)) * (rng.random((BANNERS, HOURS)) < 0.3)
u, b, h = rng.integers(0, USERS, N), rng.integers(0, BANNERS, N), rng.integers(0, HOURS, N)
logit = -1.6 + 0.9 * (taste_u[u] * taste_b[b]).sum(1) + cross[b, h]
click = (rng.random(N) < 1 / (1 + np.exp(-logit))).astype("float32")


class Wide(tf.Module):
    def __init__(self):
        super().__init__()
        self.table = tf.Variable(tf.zeros([BANNERS * HOURS]), name="cross")
        self.bias = tf.Variable(0.0, name="bias")

    def __call__(self, b, h):
        return tf.gather(self.table, b * HOURS + h) + self.bias


class Deep(keras.Model):
    def __init__(self):
        super().__init__()
        self.eu = keras.layers.Embedding(USERS, 8)
        self.eb = keras.layers.Embedding(BANNERS, 8)
        self.tower = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1, use_bias=False)])

    def call(self, u, b):
        p, q = self.eu(u), self.eb(b)
        return self.tower(tf.concat([p, q, p * q], -1))[:, 0] + tf.reduce_sum(p * q, -1)


wide, deep = Wide(), Deep()
wide_opt = keras.optimizers.Ftrl(0.5, l1_regularization_strength=1e-5)
deep_opt = keras.optimizers.Adam(2e-3)


@tf.function
def train_step(u, b, h, y):
    with tf.GradientTape() as tape:
        z = wide(b, h) + deep(u, b)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, z))
    wv, dv = list(wide.trainable_variables), deep.trainable_variables
    gw, gd = tape.gradient(loss, (wv, dv))
    gw = [tf.convert_to_tensor(g) for g in gw]
    wide_opt.apply_gradients(zip(gw, wv))
    deep_opt.apply_gradients(zip(gd, dv))
    return loss


def report(tag, s):
    z = (wide(b[s], h[s]) + deep(u[s], b[s])).numpy()
    y = click[s]
    rank = np.empty(len(z))
    rank[np.argsort(z)] = np.arange(1, len(z) + 1)
    auc = (rank[y == 1].sum() - y.sum() * (y.sum() + 1) / 2) / (y.sum() * (len(y) - y.sum()))
    ll = np.mean(np.logaddexp(0, z) - y * z)
    print(f"{tag}: logloss {ll:.4f} auc {auc:.4f}")


u, b, h = u.astype("int32"), b.astype("int32"), h.astype("int32")
tr, te = slice(0, 34000), slice(34000, N)
deep(u[:2], b[:2])
wide_opt.build(list(wide.trainable_variables))
deep_opt.build(deep.trainable_variables)
ds = tf.data.Dataset.from_tensor_slices((u[tr], b[tr], h[tr], click[tr])).shuffle(34000).batch(128)
for epoch in range(8):
    losses = [float(train_step(*batch)) for batch in ds]
    print("epoch", epoch + 1, "loss %.4f" % np.mean(losses))
    report("  held out", te)
p = click[te].mean()
print("constant rate: logloss %.4f" % -(p * np.log(p) + (1 - p) * np.log(1 - p)))
print("best possible: logloss %.4f" % np.mean(np.logaddexp(0, logit[te]) - click[te] * logit[te]))
