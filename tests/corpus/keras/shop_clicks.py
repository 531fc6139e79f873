"""Wide and deep click model: FTRL for the wide crosses, Adam for the deep part."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

rng = np.random.default_rng(41)
keras.utils.set_random_seed(41)
CATS, HOURS, USERS = 12, 24, 200
N = 16000
cat, hour, user = rng.integers(0, CATS, N), rng.integers(0, HOURS, N), rng.integers(0, USERS, N)
price = rng.normal(0, 1, N)
cross = rng.normal(0, 1.2, (CATS, HOURS))
taste, kind = rng.normal(0, 1, (USERS, 3)), rng.normal(0, 1, (CATS, 3))
z = cross[cat, hour] + (taste[user] * kind[cat]).sum(1) - 0.8 * price
click = (rng.random(N) < 1 / (1 + np.exp(-1.5 * z))).astype("float32")
table = {"cross": (cat * HOURS + hour).astype("int32"), "cat": cat.astype("int32"),
         "user": user.astype("int32"), "price": price.astype("float32")[:, None]}
split = 13000
train = tf.data.Dataset.from_tensor_slices(({k: v[:split] for k, v in table.items()}, click[:split]))
train = train.shuffle(split, seed=1).batch(128)
test = ({k: v[split:] for k, v in table.items()}, click[split:])


class WideDeep(keras.Model):
    def __init__(self):
        super().__init__()
        self.wide = layers.Embedding(CATS * HOURS, 1, embeddings_initializer="zeros")
        self.eu, self.ec = layers.Embedding(USERS, 8), layers.Embedding(CATS, 8)
        self.bce = keras.metrics.Mean(name="bce")
        self.mlp = keras.Sequential([layers.Dense(48, activation="relu"), layers.Dense(1)])

    def call(self, f):
        eu, ec = self.eu(f["user"]), self.ec(f["cat"])
        deep = self.mlp(tf.concat([eu, ec, eu * ec, f["price"]], -1))
        return (self.wide(f["cross"]) + deep)[:, 0]

    @property
    def metrics(self):
        return [self.bce]

    def compile(self, wide_opt, deep_opt, loss):
        super().compile(loss=loss)
        self.wide_opt, self.deep_opt, self.lossfn = wide_opt, deep_opt, loss

    def train_step(self, data):
        f, y = data
        with tf.GradientTape() as tape:
            loss = self.lossfn(y, self(f, training=True))
        wide = self.wide.trainable_variables
        deep = self.eu.trainable_variables + self.ec.trainable_variables + self.mlp.trainable_variables
        gw, gd = tape.gradient(loss, (wide, deep))
        self.wide_opt.apply_gradients(zip(gw, wide))
        self.deep_opt.apply_gradients(zip(gd, deep))
        self.bce.update_state(loss)
        return {"bce": self.bce.result()}


net = WideDeep()
net({k: v[:2] for k, v in test[0].items()})
net.compile(keras.optimizers.Ftrl(0.3), keras.optimizers.Adam(3e-3),
            keras.losses.BinaryCrossentropy(from_logits=True))
auc = keras.metrics.AUC(from_logits=True)
for epoch in range(12):
    h = net.fit(train, epochs=1, verbose=0)
    auc.reset_state()
    auc.update_state(test[1], net(test[0]))
    print(f"epoch {epoch} train bce {h.history['bce'][-1]:.4f} test AUC {float(auc.result()):.4f}")
