"""Siamese verification: are two digit images the same class?"""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class PairSampler:
    def __init__(self, images, labels, seed):
        self.images, self.labels = images, labels
        self.rng = np.random.default_rng(seed)
        self.by_class = [np.flatnonzero(labels == c) for c in range(10)]

    def batch(self, n):
        a = self.rng.integers(0, len(self.images), n)
        b = np.empty_like(a)
        same = self.rng.random(n) < 0.5
        for i in range(n):
            c = self.labels[a[i]]
            if not same[i]:
                c = self.rng.choice([k for k in range(10) if k != c])
            b[i] = self.rng.choice(self.by_class[c])
        return self.images[a], self.images[b], same.astype("float32")


def make_encoder():
    return keras.Sequential([
        keras.Input((8, 8, 1)),
        keras.layers.Conv2D(16, 3, activation="relu", padding="same"),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(32, 3, activation="relu", padding="same"),
        keras.layers.Flatten(),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(16),
    ])


def distance(u, v):
    sq = tf.reduce_sum(tf.square(u - v), axis=1)
    return tf.sqrt(sq)


def pair_hinge_loss(same, d, margin=2.0):
    pos = same * d
    neg = (1.0 - same) * tf.maximum(margin - d, 0.0)
    return tf.reduce_mean(pos + neg)


class Trainer:
    def __init__(self, encoder, lr):
        self.encoder = encoder
        self.opt = keras.optimizers.Adam(lr)

    @tf.function
    def step(self, xa, xb, same):
        with tf.GradientTape() as tape:
            d = distance(self.encoder(xa, training=True), self.encoder(xb, training=True))
            loss = pair_hinge_loss(same, d)
        grads = tape.gradient(loss, self.encoder.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.encoder.trainable_variables))
        return loss

    def score(self, xa, xb):
        return distance(self.encoder(xa, training=False), self.encoder(xb, training=False)).numpy()


def main(steps=1200, batch=64):
    keras.utils.set_random_seed(13)
    d = load_digits()
    x = (d.images / 16.0).astype("float32")[..., None]
    x_tr, x_te, y_tr, y_te = train_test_split(x, d.target, test_size=0.3, stratify=d.target,
                                              random_state=13)
    train, test = PairSampler(x_tr, y_tr, 1), PairSampler(x_te, y_te, 2)
    trainer = Trainer(make_encoder(), 1e-3)
    running = []
    for step in range(1, steps + 1):
        running.append(float(trainer.step(*train.batch(batch))))
        if step % 200 == 0:
            print(f"step {step}: loss {np.mean(running[-200:]):.4f}")

    xa, xb, same = test.batch(2000)
    raw = np.linalg.norm((xa - xb).reshape(len(xa), -1), axis=1)
    acc_raw = np.mean((raw < np.median(raw)) == same)
    acc = np.mean((trainer.score(xa, xb) < 1.0) == same)
    print(f"verification accuracy with raw pixels {acc_raw:.4f}")
    print(f"held-out verification accuracy {acc:.4f}")


if __name__ == "__main__":
    main()
