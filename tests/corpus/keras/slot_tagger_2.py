"""Slot tagging for travel requests: a BiGRU with a channels-first sequence loss."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(31)
rng = np.random.default_rng(31)

TAGS = ["O", "FROM", "TO", "DATE", "CLASS"]
C, T, VOCAB = len(TAGS), 16, 120
CITY = np.arange(40, 80)
DAY = np.arange(80, 100)
CABIN = np.arange(100, 108)
W_FROM, W_TO, W_ON = 2, 3, 4


def sentence():
    chunks = [
        [(W_FROM, 0), (rng.choice(CITY), 1)],
        [(W_TO, 0), (rng.choice(CITY), 2)],
        [(W_ON, 0), (rng.choice(DAY), 3)],
        [(rng.choice(CABIN), 4)],
    ]
    keep = [c for c in chunks if rng.random() < 0.8]
    rng.shuffle(keep)
    out = []
    for chunk in keep:
        out += [(rng.integers(5, 40), 0)] * rng.integers(0, 3)
        out += chunk
    while len(out) < T:
        out.append((rng.integers(5, 40), 0))
    ids, tags = zip(*out[:T])
    return ids, tags


def corpus(n):
    pairs = [sentence() for _ in range(n)]
    return (np.array([p[0] for p in pairs], dtype="int32"),
            np.array([p[1] for p in pairs], dtype="int32"))


class Tagger(keras.Model):
    def __init__(self):
        super().__init__()
        self.emb = layers.Embedding(VOCAB, 32)
        self.rnn = layers.Bidirectional(layers.GRU(32, return_sequences=True))
        self.out = layers.Dense(C)

    def call(self, ids, training=False):
        return self.out(self.rnn(self.emb(ids), training=training))   # (N, T, C)


class SequenceLoss:
    """Weighted cross entropy over (N, C, T), as in our other project."""

    def __init__(self, weights):
        self.weights = tf.constant(weights, tf.float32)

    def __call__(self, tags, logits):
        logits = tf.reshape(logits, (-1, C, T))
        target = tf.one_hot(tags, C, axis=1)
        ce = tf.nn.softmax_cross_entropy_with_logits(target, logits, axis=1)
        w = tf.gather(self.weights, tags)
        return tf.reduce_sum(ce * w) / tf.reduce_sum(w)


def slot_scores(tags, pred):
    """Micro F1 over everything that is not O."""
    tp = np.sum((pred == tags) & (tags > 0))
    precision = tp / max(np.sum(pred > 0), 1)
    recall = tp / max(np.sum(tags > 0), 1)
    return 2 * precision * recall / max(precision + recall, 1e-9)


x_train, y_train = corpus(1500)
x_dev, y_dev = corpus(400)
model = Tagger()
criterion = SequenceLoss([0.5, 1.0, 1.0, 1.0, 1.0])
optimizer = keras.optimizers.Adam(5e-3)
batches = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1500).batch(50)


@tf.function
def train_step(ids, tags):
    with tf.GradientTape() as tape:
        loss = criterion(tags, model(ids, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 5.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(1, 9):
    losses = [float(train_step(a, b)) for a, b in batches]
    logits = model(x_dev).numpy()
    pred = logits.argmax(-1)
    print(f"epoch {epoch} loss {np.mean(losses):.4f} dev_loss {float(criterion(y_dev, logits)):.4f} "
          f"dev_acc {np.mean(pred == y_dev):.4f} slot_f1 {slot_scores(y_dev, pred):.4f}")

print(f"dev token accuracy {np.mean(pred == y_dev):.4f} (all O: {np.mean(y_dev == 0):.4f}), "
      f"slot F1 {slot_scores(y_dev, pred):.4f}")
