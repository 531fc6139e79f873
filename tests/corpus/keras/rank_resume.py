"""Pairwise ranking of offers, trained in two sessions with a weights file in between."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tempfile
import numpy as np
import keras
import tensorflow as tf

keras.utils.set_random_seed(53)
rng = np.random.default_rng(53)
QUERIES, OFFERS, DIM = 500, 12, 10

taste = rng.normal(size=DIM)
offers = rng.normal(size=(QUERIES, OFFERS, DIM)).astype("float32")
utility = offers @ taste + 1.5 * offers[..., 0] * offers[..., 1] + rng.normal(0, .7, (QUERIES, OFFERS))
utility += rng.normal(0, 3, (QUERIES, 1))
grade = (utility.argsort(1).argsort(1) // 4).astype("int32")
train_q = 400


def scorer():
    return keras.Sequential([
        keras.layers.Input((DIM,)),
        keras.layers.Dense(48, activation="tanh"),
        keras.layers.Dense(24, activation="tanh"),
        keras.layers.Dense(1, use_bias=False),
    ])


def pair_batches(per_epoch=60, size=128):
    for _ in range(per_epoch):
        q = rng.integers(0, train_q, size)
        i, j = rng.integers(0, OFFERS, (2, size))
        swap = grade[q, i] < grade[q, j]
        i, j = np.where(swap, j, i), np.where(swap, i, j)
        differs = (grade[q, i] != grade[q, j]).astype("float32")
        yield offers[q, i], offers[q, j], differs


def make_step(model, optimizer):
    @tf.function
    def step(better, worse, differs):
        with tf.GradientTape() as tape:
            margin = (model(better, training=True) - model(worse, training=True))[:, 0]
            loss = tf.reduce_sum(tf.nn.softplus(-margin) * differs) / tf.reduce_sum(differs)
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss
    return step


def session(model, lr, epochs, tag):
    step = make_step(model, keras.optimizers.Adam(lr))
    for epoch in range(epochs):
        losses = [step(*batch) for batch in pair_batches()]
        print("%s epoch %d loss %.4f ndcg %.4f" % (tag, epoch, np.mean(losses), ndcg(model)))


def ndcg(model, k=5):
    s = model(offers[train_q:].reshape(-1, DIM), training=False).numpy().reshape(-1, OFFERS)
    gain = 2.0 ** grade[train_q:] - 1
    discount = 1 / np.log2(np.arange(2, k + 2))
    ranked = np.take_along_axis(gain, np.argsort(-s, 1), 1)[:, :k]
    ideal = -np.sort(-gain, 1)[:, :k]
    return float(np.mean((ranked * discount).sum(1) / (ideal * discount).sum(1)))


path = os.path.join(tempfile.mkdtemp(), "scorer.weights.h5")
first = scorer()
print("untrained ndcg %.3f" % ndcg(first))
session(first, 3e-3, 6, "first")
first.save_weights(path)

keras.backend.clear_session()
second = scorer()
second.load_weights(path)
print("after loading ndcg %.3f (before saving %.3f)" % (ndcg(second), ndcg(first)))
session(second, 1e-3, 6, "second")
print("final test ndcg@5 %.3f" % ndcg(second))
