"""Wide & deep click model: FTRL-like SGD for the wide part, Adam for the deep part."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

N_USERS, N_BOOKS, GENRES = 300, 200, 10


def log_data(n, rng):
    taste = rng.normal(0, 1, (N_USERS, 4))
    style = rng.normal(0, 1, (N_BOOKS, 4))
    fame = rng.normal(0, 1, N_BOOKS)
    u, b = rng.integers(0, N_USERS, n), rng.integers(0, N_BOOKS, n)
    score = 1.3 * (taste[u] * style[b]).sum(1) + 1.2 * fame[b]
    click = (rng.random(n) < 1 / (1 + np.exp(-score))).astype("float32")
    return u.astype("int32"), b.astype("int32"), click


class WideDeep(keras.Model):
    def __init__(self):
        super().__init__()
        self.wide = layers.Embedding(N_BOOKS, 1, embeddings_initializer="zeros")
        self.user = layers.Embedding(N_USERS, 8)
        self.book = layers.Embedding(N_BOOKS, 8)
        self.mlp = keras.Sequential([layers.Dense(32, activation="relu"), layers.Dense(1)])

    def call(self, inputs, training=False):
        u, b = inputs
        eu, eb = self.user(u), self.book(b)
        deep = self.mlp(tf.concat([eu, eb, eu * eb], -1))[:, 0]
        dot = tf.reduce_sum(eu * eb, -1)
        return self.wide(b)[:, 0] + deep + dot

    def split_weights(self):
        wide = self.wide.trainable_variables
        deep = self.user.trainable_variables + self.book.trainable_variables + self.mlp.trainable_variables
        return wide, deep

    def compile(self, wide_opt, deep_opt, **kw):
        super().compile(optimizer=deep_opt, **kw)
        self.wide_opt = wide_opt

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            logit = self(x, training=True)
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, logit))
            user_l2 = tf.reduce_mean(tf.square(self.user(x[0]))) + tf.reduce_mean(tf.square(self.book(x[1])))
            total = loss + 2e-2 * user_l2
        wide, deep = self.split_weights()
        grads = tape.gradient(total, wide + deep)
        self.wide_opt.apply(grads[: len(wide)], wide)
        self.optimizer.apply(grads[len(wide) :], deep)
        for m in self.metrics:
            m.update_state(loss) if m.name == "loss" else m.update_state(y, logit)
        return {m.name: m.result() for m in self.metrics}


keras.utils.set_random_seed(7)
u, b, c = log_data(60000, np.random.default_rng(7))
cut = 50000
model = WideDeep()
model.compile(wide_opt=keras.optimizers.SGD(20.0), deep_opt=keras.optimizers.Adam(4e-3),
              loss=keras.losses.BinaryCrossentropy(from_logits=True),
              metrics=[keras.metrics.AUC(from_logits=True, name="auc")])
model.fit((u[:cut], b[:cut]), c[:cut], validation_data=((u[cut:], b[cut:]), c[cut:]),
          batch_size=256, epochs=6, verbose=2)
