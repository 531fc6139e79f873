import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
from tensorflow import keras

EMOTIONS = ["anger", "disgust", "fear", "joy", "sadness", "surprise"]
WORDS = 300
RATERS = 10


def make_comments(n, seed):
    world = np.random.default_rng(99)
    affinity = world.normal(scale=1.1, size=(WORDS, len(EMOTIONS)))
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.04, size=(n, WORDS)).astype("float32")
    score = counts @ affinity
    p = np.exp(score - score.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    votes = np.stack([rng.multinomial(RATERS, row) for row in p])
    return counts, (votes / RATERS).astype("float32")


class VoteModel:
    def __init__(self, hidden=64, lr=3e-3, patience=4):
        self.net = keras.Sequential(
            [
                keras.Input((WORDS,)),
                keras.layers.Dense(hidden, activation="gelu"),
                keras.layers.Dropout(0.3),
                keras.layers.Dense(len(EMOTIONS), activation="softmax"),
            ]
        )
        self.optimizer = keras.optimizers.Adam(lr)
        self.patience = patience

    def divergence(self, target, pred):
        return tf.reduce_sum(target * tf.math.log((target + 1e-7) / (pred + 1e-7)), axis=-1)

    def fit(self, train, valid, epochs):
        ds = tf.data.Dataset.from_tensor_slices(train).shuffle(4000, seed=1).batch(64)

        @tf.function
        def step(x, t):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(self.divergence(t, self.net(x, training=True)))
            grads = tape.gradient(loss, self.net.trainable_variables)
            self.optimizer.apply_gradients(zip(grads, self.net.trainable_variables))
            return loss

        best, wait = np.inf, 0
        for epoch in range(epochs):
            losses = [float(step(x, t)) for x, t in ds]
            val = self.validate(*valid)
            print(f"epoch {epoch:2d}  train {np.mean(losses):.4f}  valid {val:.4f}")
            if val < best:
                best, wait, keep = val, 0, self.net.get_weights()
            else:
                wait += 1
                if wait >= self.patience:
                    break
        if best < np.inf:
            self.net.set_weights(keep)

    def validate(self, x, t):
        return float(tf.reduce_mean(self.divergence(t, self.net(x, training=False))))

    def predict(self, x):
        return self.net(x, training=False).numpy()


def report(model, x, t, prior):
    pred = model.predict(x)
    l1 = np.abs(pred - t).sum(1).mean()
    base = np.abs(prior - t).sum(1).mean()
    top = (pred.argmax(1) == t.argmax(1)).mean()
    print(f"L1 to the raters {l1:.3f} (mean shares {base:.3f}), top emotion {top:.3f}")


def main():
    keras.utils.set_random_seed(2)
    train = make_comments(4000, 1)
    valid = make_comments(600, 2)
    test = make_comments(800, 3)
    model = VoteModel()
    model.fit(train, valid, epochs=25)
    report(model, *test, prior=train[1].mean(0))


if __name__ == "__main__":
    main()
