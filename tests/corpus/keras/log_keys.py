"""Next-key model over system logs; sessions with improbable keys are reported."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import argparse
import numpy as np
import tensorflow as tf
import keras
from keras import layers, ops
from sklearn.metrics import roc_auc_score

KEYS = 24
LENGTH = 20


def transition_table(rng):
    table = np.full((KEYS, KEYS), 0.002)
    for k in range(KEYS):
        table[k, rng.choice(KEYS, 3, replace=False)] += [0.6, 0.25, 0.1]
    return table / table.sum(1, keepdims=True)


def sessions(n, table, rng):
    out = np.zeros((n, LENGTH + 1), "int32")
    out[:, 0] = rng.integers(0, KEYS, n)
    cum = table.cumsum(1)
    for t in range(1, LENGTH + 1):
        u = rng.random(n)[:, None]
        out[:, t] = np.minimum((cum[out[:, t - 1]] < u).sum(1), KEYS - 1)
    return out


def tamper(s, rng):
    s = s.copy()
    for row in s:
        where = rng.choice(np.arange(1, LENGTH + 1), 4, replace=False)
        row[where] = rng.integers(0, KEYS, 4)
    return s


class KeyModel(keras.Model):
    def __init__(self, width=32, units=48):
        super().__init__()
        self.emb = layers.Embedding(KEYS, width)
        self.rnn = layers.GRU(units, return_sequences=True)
        self.out = layers.Dense(KEYS)
        self.nll = keras.metrics.Mean(name="nll")

    def call(self, keys, training=None):
        return self.out(self.rnn(self.emb(keys), training=training))

    def token_nll(self, sess, training=False):
        logits = self(sess[:, :-1], training=training)
        return keras.losses.sparse_categorical_crossentropy(sess[:, 1:], logits, from_logits=True)

    def train_step(self, sess):
        with tf.GradientTape() as tape:
            loss = ops.mean(self.token_nll(sess, training=True))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.nll.update_state(loss)
        return {"nll": self.nll.result()}

    def test_step(self, sess):
        self.nll.update_state(ops.mean(self.token_nll(sess)))
        return {"nll": self.nll.result()}

    @property
    def metrics(self):
        return [self.nll]


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--sessions", type=int, default=1600)
    p.add_argument("--seed", type=int, default=9)
    return p.parse_args()


def main():
    args = parse()
    keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    table = transition_table(rng)
    train = sessions(args.sessions, table, rng)
    valid = sessions(300, table, rng)
    normal, odd = sessions(300, table, rng), tamper(sessions(300, table, rng), rng)

    model = KeyModel()
    model.compile(optimizer="adadelta")
    feed = tf.data.Dataset.from_tensor_slices(train).shuffle(2000, seed=1).batch(args.batch)
    model.fit(feed, epochs=args.epochs, verbose=2,
              validation_data=tf.data.Dataset.from_tensor_slices(valid).batch(100))

    score = np.concatenate([ops.convert_to_numpy(model.token_nll(s)).mean(1) for s in (normal, odd)])
    label = np.r_[np.zeros(len(normal)), np.ones(len(odd))]
    held = ops.convert_to_numpy(model.token_nll(normal)).mean()
    print(f"held-out nll per key {held:.4f}  (uniform {np.log(KEYS):.4f})")
    print(f"tampered-session AUC {roc_auc_score(label, score):.4f}")


if __name__ == "__main__":
    main()
