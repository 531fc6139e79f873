"""DistilBERT as a sequence model for gait sensors: no tokens, left padding, two optimizers,
focal loss and position embeddings that stay at their initial values."""
import logging
import os

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")

import numpy as np
import tensorflow as tf
import tf_keras
from sklearn.metrics import f1_score
from transformers import DistilBertConfig, TFDistilBertModel

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("gait")

MAX_STEPS, CHANNELS, CLASSES = 24, 6, 4
SHARE = [0.55, 0.25, 0.12, 0.08]


def record(kind, rng):
    n = rng.integers(12, MAX_STEPS + 1)
    t = np.arange(n)
    freq = [0.9, 1.3, 0.9, 1.3][kind] * rng.normal(1, 0.05)
    phase = rng.uniform(0, 6.3)
    left = np.sin(freq * t + phase)
    lag = [np.pi, np.pi, np.pi - 0.9, np.pi - 0.9][kind]
    right = np.sin(freq * t + phase + lag)
    x = np.stack([left, right, left * right, np.gradient(left), np.gradient(right), 0 * t], 1)
    x[:, 5] = rng.normal(size=n)
    return x * rng.uniform(0.7, 1.3) + 0.3 * rng.normal(size=x.shape)


def make(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.choice(CLASSES, n, p=SHARE)
    x = np.zeros((n, MAX_STEPS, CHANNELS), "float32")
    mask = np.zeros((n, MAX_STEPS), "int32")
    for k in range(n):
        r = record(y[k], rng)
        x[k, MAX_STEPS - len(r):] = r            # the newest step always sits at the right edge
        mask[k, MAX_STEPS - len(r):] = 1
    return x, mask, y.astype("int32")


class GaitModel(tf_keras.Model):
    def __init__(self):
        super().__init__()
        config = DistilBertConfig(vocab_size=2, dim=48, n_layers=2, n_heads=4, hidden_dim=96,
                                  max_position_embeddings=MAX_STEPS, dropout=0.05, attention_dropout=0.05)
        self.patch = tf_keras.layers.Conv1D(48, 3, padding="same", activation="gelu")
        self.body = TFDistilBertModel(config)
        self.head = tf_keras.layers.Dense(CLASSES)

    def call(self, inputs, training=False):
        x, mask = inputs
        h = self.body(None, inputs_embeds=self.patch(x), attention_mask=mask,
                      training=training).last_hidden_state
        keep = tf.cast(mask, h.dtype)[..., None]
        pooled = tf.reduce_sum(h * keep, 1) / tf.reduce_sum(keep, 1)
        return self.head(tf.concat([pooled, h[:, -1]], axis=-1))


def focal(y, logits, gamma=1.5):
    log_p = tf.gather(tf.nn.log_softmax(logits), y, batch_dims=1)
    return tf.reduce_mean(-tf.pow(1.0 - tf.exp(log_p), gamma) * log_p)


def main():
    tf_keras.utils.set_random_seed(10)
    x_tr, m_tr, y_tr = make(1500, 1)
    x_te, m_te, y_te = make(800, 2)
    log.info("records per class %s", np.bincount(y_tr).tolist())

    model = GaitModel()
    model((x_tr[:2], m_tr[:2]))
    fixed = [v for v in model.trainable_variables if "position_embeddings" in v.name or "word_emb" in v.name]
    body = [v for v in model.body.trainable_variables if all(v is not f for f in fixed)]
    ends = model.patch.trainable_variables + model.head.trainable_variables
    log.info("%d tensors in the body, %d at the ends, %d left alone", len(body), len(ends), len(fixed))

    epochs, batch = 6, 50
    steps = epochs * (len(x_tr) // batch)
    slow = tf_keras.optimizers.Adam(tf_keras.optimizers.schedules.PolynomialDecay(1.5e-3, steps, 1e-4))
    quick = tf_keras.optimizers.SGD(0.05, momentum=0.9)

    @tf.function
    def step(x, m, y):
        with tf.GradientTape() as tape:
            loss = focal(y, model((x, m), training=True))
        grads = tape.gradient(loss, body + ends)
        grads, norm = tf.clip_by_global_norm(grads, 1.0)
        slow.apply_gradients(zip(grads[:len(body)], body))
        quick.apply_gradients(zip(grads[len(body):], ends))
        return loss, norm

    ds = tf.data.Dataset.from_tensor_slices((x_tr, m_tr, y_tr)).shuffle(1500, seed=0).batch(batch)
    for epoch in range(epochs):
        stats = np.array([[float(v) for v in step(*b)] for b in ds])
        log.info("epoch %d  focal loss %.4f  gradient norm %.2f", epoch + 1, *stats.mean(0))

    forward = tf.function(lambda x, m: model((x, m), training=False))
    pred = np.concatenate([forward(x_te[k:k + 200], m_te[k:k + 200]).numpy().argmax(1)
                           for k in range(0, len(x_te), 200)])
    log.info("test accuracy %.3f  macro-F1 %.3f  (majority: %.3f, %.3f)", np.mean(pred == y_te),
             f1_score(y_te, pred, average="macro"), np.bincount(y_te).max() / len(y_te),
             f1_score(y_te, np.zeros_like(y_te), average="macro"))


if __name__ == "__main__":
    main()
