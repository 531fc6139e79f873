import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

MARGIN = 1.0
BATCH = 64
STEPS = 400


class PairSampler:
    def __init__(self, x, y, seed):
        self.x, self.y = x, y
        self.rng = np.random.default_rng(seed)
        self.by_class = [np.flatnonzero(y == c) for c in range(10)]

    def sample(self, n):
        left = self.rng.integers(0, len(self.x), n)
        same = self.rng.random(n) < 0.5
        right = np.empty(n, dtype=int)
        for i, (a, s) in enumerate(zip(left, same)):
            if s:
                right[i] = self.rng.choice(self.by_class[self.y[a]])
            else:
                c = (self.y[a] + self.rng.integers(1, 10)) % 10
                right[i] = self.rng.choice(self.by_class[c])
        return self.x[left], self.x[right], same.astype("float32")


def embedding_net():
    return keras.Sequential([
        keras.Input((64,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(8),
    ])


def pair_distance(a, b):
    sq = tf.reduce_sum(tf.square(a - b), axis=1)
    return tf.sqrt(sq)


def contrastive(dist, same):
    pull = same * dist
    push = (1.0 - same) * tf.maximum(MARGIN - dist, 0.0)
    return tf.reduce_mean(pull + push)


def main():
    keras.utils.set_random_seed(1)
    x, y = load_digits(return_X_y=True)
    x = (x / 16.0).astype("float32")
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.3, random_state=1)

    net = embedding_net()
    opt = keras.optimizers.Adam(2e-3)
    sampler = PairSampler(x_tr, y_tr, seed=1)

    @tf.function
    def step(a, b, same):
        with tf.GradientTape() as tape:
            d = pair_distance(net(a, training=True), net(b, training=True))
            loss = contrastive(d, same)
        grads = tape.gradient(loss, net.trainable_variables)
        opt.apply_gradients(zip(grads, net.trainable_variables))
        return loss

    running = []
    for i in range(1, STEPS + 1):
        a, b, same = sampler.sample(BATCH)
        running.append(float(step(tf.constant(a), tf.constant(b), tf.constant(same))))
        if i % 50 == 0:
            print(f"step {i} contrastive loss {np.mean(running[-50:]):.4f}")

    emb_tr = np.nan_to_num(net.predict(x_tr, verbose=0))
    emb_te = np.nan_to_num(net.predict(x_te, verbose=0))
    knn = KNeighborsClassifier(5).fit(emb_tr, y_tr)
    print(f"final loss {np.mean(running[-50:]):.4f}  knn accuracy {knn.score(emb_te, y_te):.4f}")


if __name__ == "__main__":
    main()
