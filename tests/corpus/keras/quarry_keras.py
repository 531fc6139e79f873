# Two-tower retrieval: customers and products described by numeric features, in-batch negatives
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)

N, K = 6000, 10
taste = rng.normal(size=(N, K)).astype("float32")
A = rng.normal(size=(K, 40)).astype("float32") / 3
B = rng.normal(size=(K, 60)).astype("float32") / 3
customers = np.tanh(taste @ A) + 0.05 * rng.normal(size=(N, 40)).astype("float32")
products = np.tanh(taste @ B) + 0.05 * rng.normal(size=(N, 60)).astype("float32")

train = tf.data.Dataset.from_tensor_slices((customers[:5000], products[:5000]))
train = train.shuffle(5000).batch(200, drop_remainder=True)
test = (customers[5000:], products[5000:])


def tower(name):
    return keras.Sequential(
        [layers.Dense(128, activation="relu"), layers.Dense(64, activation="relu"), layers.Dense(32)],
        name=name,
    )


class TwoTower(keras.Model):
    def __init__(self, temperature=0.07):
        super().__init__()
        self.customer = tower("customer")
        self.product = tower("product")
        self.temperature = temperature
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.acc = keras.metrics.SparseCategoricalAccuracy(name="in_batch_top1")

    def call(self, inputs, training=False):
        c, p = inputs
        c = tf.math.l2_normalize(self.customer(c, training=training))
        p = tf.math.l2_normalize(self.product(p, training=training))
        return tf.matmul(c, p, transpose_b=True) / self.temperature

    def train_step(self, data):
        with tf.GradientTape() as tape:
            sims = self(data, training=True)
            target = tf.range(tf.shape(sims)[0])
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=sims)
            )
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        self.acc.update_state(target, sims)
        return {"loss": self.loss_tracker.result(), "in_batch_top1": self.acc.result()}

    @property
    def metrics(self):
        return [self.loss_tracker, self.acc]


model = TwoTower()
model.compile(optimizer=keras.optimizers.Adam(1e-3))
model.fit(train, epochs=15, verbose=2)

sims = model(test).numpy()
rank = (sims > np.diag(sims)[:, None]).sum(axis=1)
print(f"test recall@1 {np.mean(rank < 1):.3f}  recall@10 {np.mean(rank < 10):.3f}  (1000 candidates)")
