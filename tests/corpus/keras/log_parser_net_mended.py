"""Flag anomalous windows of service log lines with a small bag-of-events network."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import re
from collections import Counter

import numpy as np
import keras
import tensorflow as tf
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

keras.utils.set_random_seed(7)
rng = np.random.default_rng(7)

NORMAL = [
    "INFO connection from {ip} accepted", "INFO request GET /api/item/{n} 200 in {n} ms",
    "INFO request POST /api/cart 201 in {n} ms", "DEBUG cache hit for key {n}",
    "DEBUG cache miss for key {n}", "INFO heartbeat ok node {n}",
    "WARN slow query took {n} ms", "INFO user {n} logged in", "INFO user {n} logged out",
]
ODD = [
    "ERROR replica {n} lost quorum", "WARN retry {n} for shard {n}",
    "ERROR checksum mismatch block {n}", "WARN queue depth {n} over limit",
]


def fill(template):
    text = template.replace("{ip}", ".".join(str(v) for v in rng.integers(1, 255, 4)))
    return re.sub(r"\{n\}", lambda _: str(rng.integers(1, 9000)), text)


def make_window(anomalous, size=30):
    lines = [fill(NORMAL[i]) for i in rng.integers(0, len(NORMAL), size)]
    n_odd = rng.integers(2, 6) if anomalous else rng.integers(0, 3)
    for pos in rng.integers(0, size, n_odd):
        lines[pos] = fill(ODD[rng.integers(len(ODD))])
    return lines


def template_of(line):
    return re.sub(r"\d+(\.\d+)*", "#", line)


labels = (rng.random(3000) < 0.2).astype("float32")
windows = [make_window(bool(y)) for y in labels]
train_n = 2400
counts = Counter(template_of(line) for w in windows[:train_n] for line in w)
vocab = {t: i for i, (t, _) in enumerate(counts.most_common(40))}


class WindowSequence(keras.utils.PyDataset):
    def __init__(self, windows, labels, batch_size=256, shuffle=True):
        super().__init__()
        self.windows, self.labels = windows, labels
        self.batch_size, self.shuffle = batch_size, shuffle
        self.order = np.arange(len(labels))
        self.on_epoch_end()

    def __len__(self):
        return int(np.ceil(len(self.order) / self.batch_size))

    def __getitem__(self, i):
        idx = self.order[i * self.batch_size:(i + 1) * self.batch_size]
        x = np.zeros((len(idx), len(vocab)), "float32")
        for row, j in enumerate(idx):
            for line in self.windows[j]:
                k = vocab.get(template_of(line))
                if k is not None:
                    x[row, k] += 1.0
        return np.log1p(x), self.labels[idx][:, None]

    def on_epoch_end(self):
        if self.shuffle:
            rng.shuffle(self.order)


train = WindowSequence(windows[:train_n], labels[:train_n])
test = WindowSequence(windows[train_n:], labels[train_n:], shuffle=False)

model = keras.Sequential([
    keras.layers.Input((len(vocab),)),
    keras.layers.Dense(64, activation="relu"),
    keras.layers.Dense(32, activation="relu"),
    keras.layers.Dense(1),
])
optimizer = keras.optimizers.SGD(learning_rate=0.1, momentum=0.9)
bce = keras.losses.BinaryCrossentropy(from_logits=True, reduction=None)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        per_window = bce(y, model(x, training=True))
        loss = tf.reduce_mean(per_window)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(10):
    seen = [float(step(tf.constant(x), tf.constant(y))) for x, y in (train[i] for i in range(len(train)))]
    train.on_epoch_end()
    print(f"epoch {epoch:2d} loss {np.mean(seen):.4f}")

scores = np.concatenate([model(test[i][0], training=False).numpy()[:, 0] for i in range(len(test))])
truth = labels[train_n:]
print("test auc %.3f" % roc_auc_score(truth, np.nan_to_num(scores)))
print("test balanced accuracy %.3f" % balanced_accuracy_score(truth, scores > 0))
