import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(13)
rng = np.random.default_rng(13)


def customers(n):
    x = rng.normal(size=(n, 8)).astype("float32")
    risk = 1.2 * x[:, 0] - 0.9 * x[:, 1] + 0.8 * x[:, 2] * x[:, 3] + 0.6 * np.abs(x[:, 4])
    t = rng.exponential(np.exp(-risk))
    c = rng.exponential(1.0, n)
    seen = (t <= c).astype("float32")
    time = np.minimum(t, c).astype("float32")
    order = np.argsort(-time)                   # longest first: the risk set of row i is rows 0..i
    return x[order], time[order], seen[order]


def cumulative_logsumexp(s):
    top = tf.stop_gradient(tf.reduce_max(s))
    return tf.math.log(tf.cumsum(tf.exp(s - top))) + top


def cox(y, score):
    """Partial likelihood; y is 1 where the end was seen. Rows must come sorted by falling time."""
    s, e = tf.reshape(score, [-1]), tf.reshape(y, [-1])
    return -tf.reduce_sum((s - cumulative_logsumexp(s)) * e) / tf.maximum(tf.reduce_sum(e), 1.0)


def concordance(score, time, seen):
    s = np.asarray(score).ravel()
    usable = (time[:, None] < time[None]) & (seen[:, None] == 1)
    return float(((s[:, None] > s[None]) & usable).sum() / usable.sum())


xtr, ttr, etr = customers(2000)
xva, tva, eva = customers(800)
print(f"seen ends {etr.mean():.2f}")

model = keras.Sequential([
    keras.Input((8,)),
    keras.layers.Dense(64, "selu", kernel_initializer="lecun_normal", kernel_regularizer=keras.regularizers.L2(1e-4)),
    keras.layers.AlphaDropout(0.1),
    keras.layers.Dense(32, "selu", kernel_initializer="lecun_normal", kernel_regularizer=keras.regularizers.L2(1e-4)),
    keras.layers.Dense(1, use_bias=False),      # the partial likelihood does not see a constant
])


class Stop(keras.callbacks.Callback):
    def __init__(self, patience):
        super().__init__()
        self.patience, self.best, self.bad, self.keep = patience, -1, 0, None

    def on_epoch_end(self, epoch, logs=None):
        c = concordance(self.model(xva, training=False), tva, eva)
        if epoch % 10 == 0:
            print(f"epoch {epoch:3d} loss {logs['loss']:.4f} val {logs['val_loss']:.4f} concordance {c:.4f}")
        if c > self.best + 1e-4:
            self.best, self.bad, self.keep = c, 0, self.model.get_weights()
        else:
            self.bad += 1
            if self.bad >= self.patience:
                print("stop at epoch", epoch)
                self.model.stop_training = True

    def on_train_end(self, logs=None):
        self.model.set_weights(self.keep)


model.compile(optimizer=keras.optimizers.Adam(5e-3), loss=cox)
# one batch is the whole table, in order: a risk set cannot be cut into pieces
model.fit(xtr, etr[:, None], batch_size=len(xtr), epochs=300, shuffle=False, verbose=0,
          validation_data=(xva, eva[:, None]), validation_batch_size=len(xva), callbacks=[Stop(40)])
print("concordance, kept weights: train %.4f val %.4f" % (
    concordance(model(xtr), ttr, etr), concordance(model(xva), tva, eva)))
xte, tte, ete = customers(1500)
print("fresh customers: %.4f" % concordance(model(xte), tte, ete))
