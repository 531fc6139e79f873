import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.metrics import f1_score

keras.utils.set_random_seed(29)
TAGS = ["bar", "column", "dot", "frame", "dark"]


def picture(tags, rng, side=16):
    img = rng.normal(0.5, 0.08, (side, side))
    if tags[0]:
        img[rng.integers(1, side - 1), 1:-1] += 0.8
    if tags[1]:
        img[1:-1, rng.integers(1, side - 1)] += 0.8
    if tags[2]:
        r, c = rng.integers(2, side - 4, 2)
        img[r:r + 3, c:c + 3] -= 0.8
    if tags[3]:
        img[[0, -1], :] += 0.8
        img[:, [0, -1]] += 0.8
    if tags[4]:
        img *= 0.6
    return img


def collection(n, seed):
    rng = np.random.default_rng(seed)
    y = (rng.random((n, len(TAGS))) < [0.5, 0.4, 0.3, 0.2, 0.15]).astype("float32")
    x = np.stack([picture(t, rng) for t in y]).astype("float32")[..., None]
    return (x - 0.6) / 0.3, y


class Tagger(keras.Model):
    """Trunk and tag head learn at different speeds, so each has its own optimizer."""

    def __init__(self):
        super().__init__()
        self.trunk = keras.Sequential([
            layers.Conv2D(24, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(64, activation="relu"),
        ])
        self.head = layers.Dense(len(TAGS))
        self.loss_mean = keras.metrics.Mean(name="loss")
        self.hits = keras.metrics.BinaryAccuracy(name="hits", threshold=0.0)

    def compile(self, trunk_opt, head_opt):
        super().compile(optimizer=trunk_opt)
        self.head_opt = head_opt

    def call(self, x, training=None):
        return self.head(self.trunk(x, training=training))

    def tag_loss(self, y, z):
        soft = y * 0.9 + 0.05
        return tf.reduce_mean(tf.reduce_sum(
            tf.nn.sigmoid_cross_entropy_with_logits(labels=soft, logits=z), axis=-1))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape(persistent=True) as tape:
            z = self(x, training=True)
            loss = self.tag_loss(y, z)
        trunk_vars, head_vars = self.trunk.trainable_variables, self.head.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, trunk_vars), trunk_vars))
        self.head_opt.apply_gradients(zip(tape.gradient(loss, head_vars), head_vars))
        del tape
        self.loss_mean.update_state(loss)
        self.hits.update_state(y, z)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        z = self(x, training=False)
        self.loss_mean.update_state(self.tag_loss(y, z))
        self.hits.update_state(y, z)
        return {m.name: m.result() for m in self.metrics}

    @property
    def metrics(self):
        return [self.loss_mean, self.hits]


x_tr, y_tr = collection(1500, 1)
x_te, y_te = collection(400, 2)
model = Tagger()
model(x_tr[:2])
model.compile(keras.optimizers.Adam(1e-3), keras.optimizers.SGD(0.05, momentum=0.9))
model.fit(x_tr, y_tr, validation_data=(x_te, y_te), epochs=10, batch_size=32, verbose=2)

pred = model.predict(x_te, verbose=0) > 0
base = np.maximum(y_te.mean(0), 1 - y_te.mean(0)).mean()
print(f"tag accuracy {np.mean(pred == y_te):.4f} (majority {base:.4f})  "
      f"macro F1 {f1_score(y_te, pred, average='macro'):.4f}")
