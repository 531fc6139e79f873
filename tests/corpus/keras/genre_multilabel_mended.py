import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.metrics import f1_score

GENRES = 6


def album_reviews(n, vocab=300, length=40, seed=0):
    rng = np.random.default_rng(seed)
    topics = np.random.default_rng(99).integers(30, vocab, (GENRES, 12))
    y = (rng.random((n, GENRES)) < 0.3).astype("float32")
    x = rng.integers(1, vocab, (n, length))
    for i in range(n):
        for g in np.flatnonzero(y[i]):
            spots = rng.choice(length, 4, replace=False)
            x[i, spots] = rng.choice(topics[g], 4)
    return x.astype("int32"), y


class AccumulatingModel(keras.Model):
    def __init__(self, every, **kwargs):
        super().__init__(**kwargs)
        self.every = every
        self.embed = layers.Embedding(300, 32)
        self.conv = layers.Conv1D(48, 1, activation="relu")
        self.pool = layers.GlobalAveragePooling1D()
        self.head = layers.Dense(GENRES)

    def call(self, ids, training=None):
        h = self.conv(self.embed(ids))
        return self.head(self.pool(h))

    def prepare(self, ids):
        self(ids)
        self.optimizer.build(self.trainable_variables)
        self.buffers = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in self.trainable_variables]
        self.micro = tf.Variable(0, trainable=False, dtype=tf.int64)

    def flush(self):
        grads = [b / float(self.every) for b in self.buffers]
        self.optimizer.apply(grads, self.trainable_variables)
        for b in self.buffers:
            b.assign(tf.zeros_like(b))
        return True

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            pred = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=pred)
        grads = tape.gradient(loss, self.trainable_variables)
        for b, g in zip(self.buffers, grads):
            b.assign_add(tf.convert_to_tensor(g))
        self.micro.assign_add(1)
        tf.cond(self.micro % self.every == 0, self.flush, lambda: False)
        self._loss_tracker.update_state(loss)
        return self.compute_metrics(x, y, pred)


def tune_threshold(prob, y):
    grid = np.linspace(0.1, 0.9, 17)
    return grid[np.argmax([f1_score(y, prob > t, average="macro", zero_division=0) for t in grid])]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--accumulate", type=int, default=4)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--epochs", type=int, default=12)
    p.add_argument("--lr", type=float, default=1e-2)
    args = p.parse_args()
    keras.utils.set_random_seed(1)
    x, y = album_reviews(3200)
    x_val, y_val = album_reviews(600, seed=1)
    x_test, y_test = album_reviews(600, seed=2)

    model = AccumulatingModel(args.accumulate)
    model.compile(optimizer=keras.optimizers.Adam(args.lr),
                  loss=keras.losses.BinaryCrossentropy(from_logits=True),
                  metrics=[keras.metrics.BinaryAccuracy(threshold=0.0, name="acc")])
    model.prepare(x[:2])
    model.fit(x, y, batch_size=args.batch, epochs=args.epochs,
              validation_data=(x_val, y_val), verbose=2)
    threshold = tune_threshold(keras.ops.convert_to_numpy(keras.ops.sigmoid(model.predict(x_val, verbose=0))), y_val)
    prob = 1 / (1 + np.exp(-model.predict(x_test, verbose=0)))
    loss = model.evaluate(x_test, y_test, verbose=0)[0]
    always = f1_score(y_test, np.ones_like(y_test), average="macro")
    print(f"test loss {loss:.3f}  macro F1 {f1_score(y_test, prob > threshold, average='macro'):.3f}"
          f"  (all genres always: {always:.3f})")


if __name__ == "__main__":
    main()
