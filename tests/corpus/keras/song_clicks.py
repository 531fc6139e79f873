"""Click prediction: Adagrad for the id tables, Adam for the dense tower, both inside train_step."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(41)
rng = np.random.default_rng(41)

USERS, SONGS, N = 300, 200, 30_000
taste = rng.normal(size=(USERS, 3))
style = rng.normal(size=(SONGS, 3))
uid, sid = rng.integers(USERS, size=N), rng.integers(SONGS, size=N)
hour = rng.uniform(0, 24, size=N)
logit = 1.5 * (taste[uid] * style[sid]).sum(1) + np.sin(hour / 24 * 2 * np.pi) - 0.5
clicked = (rng.random(N) < 1 / (1 + np.exp(-logit))).astype("float32")
ctx = np.stack([np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi)], 1).astype("float32")


class ClickModel(keras.Model):
    def __init__(self, dim=4):
        super().__init__()
        wide = keras.initializers.RandomNormal(stddev=0.5)
        self.user = layers.Embedding(USERS, dim, embeddings_initializer=wide)
        self.song = layers.Embedding(SONGS, dim, embeddings_initializer=wide.clone())
        self.tower = keras.Sequential([layers.Dense(32, activation="relu"), layers.Dense(1)])

    def call(self, inputs):
        u, s = self.user(inputs["u"]), self.song(inputs["s"])
        match = tf.reduce_sum(u * s, axis=-1)
        return match + self.tower(tf.concat([u * s, inputs["c"]], axis=-1))[:, 0]

    def compile(self, table_opt, tower_opt, **kw):
        super().compile(**kw)
        self.table_opt, self.tower_opt = table_opt, tower_opt

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            pred = self(x, training=True)
            loss = self.compute_loss(x, y, pred)
        tables = self.user.trainable_variables + self.song.trainable_variables
        tower = self.tower.trainable_variables
        grads = tape.gradient(loss, tables + tower)
        self.table_opt.apply_gradients(zip(grads[:len(tables)], tables))
        self.tower_opt.apply_gradients(zip(grads[len(tables):], tower))
        for m in self.metrics:
            if m.name == "loss":
                m.update_state(loss)
            else:
                m.update_state(y, pred)
        return {m.name: m.result() for m in self.metrics}


def pack(sl):
    return {"u": uid[sl].astype("int32"), "s": sid[sl].astype("int32"), "c": ctx[sl]}


cut = 26_000
model = ClickModel()
model({k: v[:1] for k, v in pack(slice(0, cut)).items()})
model.compile(
    table_opt=keras.optimizers.Adagrad(0.2, initial_accumulator_value=1e-5),
    tower_opt=keras.optimizers.Adam(1e-3),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.AUC(from_logits=True, name="auc")],
)
model.fit(pack(slice(0, cut)), clicked[:cut], validation_data=(pack(slice(cut, N)), clicked[cut:]),
          epochs=6, batch_size=128, verbose=2)
true_auc = keras.metrics.AUC()
true_auc.update_state(clicked[cut:], 1 / (1 + np.exp(-logit[cut:])))
print("auc of the true probabilities", float(true_auc.result()))
