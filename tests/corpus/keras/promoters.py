"""Promoter recognition on DNA strings."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import keras
from keras import layers
from sklearn.metrics import average_precision_score, confusion_matrix

LENGTH = 80
COMPLEMENT = str.maketrans("ACGTN", "TGCAN")

# ---- data ----------------------------------------------------------------


def random_dna(rng, n):
    return "".join(rng.choice(list("ACGTN"), n, p=[.25, .24, .24, .25, .02]))


def mutate(rng, motif):
    return "".join(rng.choice(list("ACGT")) if rng.random() < .04 else c for c in motif)


def plant(rng, seq):
    gap = rng.integers(15, 20)
    start = rng.integers(0, LENGTH - 12 - gap)
    first, second = mutate(rng, "TTGACA"), mutate(rng, "TATAAT")
    seq = seq[:start] + first + seq[start + 6:]
    second_at = start + 6 + gap
    return seq[:second_at] + second + seq[second_at + 6:]


def make_set(rng, n, share):
    labels = (rng.random(n) < share).astype("int64")
    seqs = [random_dna(rng, LENGTH) for _ in range(n)]
    return [plant(rng, s) if y else s for s, y in zip(seqs, labels)], labels


def both_strands(seqs, labels):
    reverse = [s.translate(COMPLEMENT)[::-1] for s in seqs]
    return seqs + reverse, np.tile(labels, 2)


def one_hot(seqs):
    index = np.array([["ACGT".find(c) for c in s] for s in seqs])
    return (index[..., None] == np.arange(4)).astype("float32")


# ---- model ---------------------------------------------------------------


def build():
    inputs = keras.Input((LENGTH, 4))
    h = layers.Conv1D(48, 9, use_bias=False, padding="same")(inputs)
    h = layers.BatchNormalization()(h)
    h = layers.ReLU()(h)
    h = layers.MaxPooling1D(4)(h)
    h = layers.Conv1D(48, 8, activation="relu", padding="same")(h)
    h = layers.GlobalMaxPooling1D()(h)
    h = layers.Dropout(0.3)(h)
    return keras.Model(inputs, layers.Dense(2)(h))


def class_weights(labels):
    counts = np.bincount(labels)
    return {k: len(labels) / (2 * c) for k, c in enumerate(counts)}


# ---- run -----------------------------------------------------------------


def main():
    keras.utils.set_random_seed(43)
    rng = np.random.default_rng(43)
    train_seqs, train_y = make_set(rng, 3000, 0.2)
    test_seqs, test_y = make_set(rng, 800, 0.2)
    seqs, y = both_strands(train_seqs, train_y)
    x, x_test = one_hot(seqs), one_hot(test_seqs)

    model = build()
    model.compile(
        optimizer=keras.optimizers.Adam(3e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    model.fit(x, y, class_weight=class_weights(y), epochs=8, batch_size=64, verbose=2)

    logits = model.predict(x_test, verbose=0)
    print(confusion_matrix(test_y, logits.argmax(1)))
    print("average precision %.3f (share of promoters %.3f)" % (
        average_precision_score(test_y, logits[:, 1] - logits[:, 0]), test_y.mean()))
    print("test accuracy %.3f, all-negative %.3f" % ((logits.argmax(1) == test_y).mean(), 1 - test_y.mean()))


if __name__ == "__main__":
    main()
