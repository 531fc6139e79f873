"""Sentiment of short reviews with an LSTM, GradientTape version."""
import numpy as np
import keras
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(6)
rng = np.random.default_rng(6)

GOOD = "great lovely superb fun charming brilliant fresh warm".split()
BAD = "awful dull boring weak clumsy tedious stale cold".split()
NEUTRAL = ("the film plot was a with and scenes actor story about director music of in "
           "long short camera this that one night city old new").split()
WORDS = {w: i + 1 for i, w in enumerate(GOOD + BAD + NEUTRAL + ["not"])}
MAXLEN = 100


def review():
    label = int(rng.integers(0, 2))
    words = list(rng.choice(NEUTRAL, rng.integers(4, 14)))
    for _ in range(rng.integers(1, 3)):
        pos = rng.integers(0, len(words) + 1)
        if rng.random() < 0.25:
            words[pos:pos] = ["not", rng.choice(BAD if label else GOOD)]
        else:
            words[pos:pos] = [rng.choice(GOOD if label else BAD)]
    return [WORDS[w] for w in words], label


def corpus(n):
    seqs, labels = zip(*[review() for _ in range(n)])
    x = keras.utils.pad_sequences(seqs, maxlen=MAXLEN, padding="post", truncating="post")
    return x, np.array(labels, dtype="float32")[:, None]


x_train, y_train = corpus(1600)
x_test, y_test = corpus(500)

model = keras.Sequential([
    keras.Input((MAXLEN,), dtype="int32"),
    layers.Embedding(len(WORDS) + 1, 24, mask_zero=True),
    layers.LSTM(24),
    layers.Dense(1),
])
model.summary()

loss_fn = keras.losses.BinaryCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(5e-3)
train_acc = keras.metrics.BinaryAccuracy(threshold=0.0)
test_acc = keras.metrics.BinaryAccuracy(threshold=0.0)

train_ds = (tf.data.Dataset.from_tensor_slices((x_train, y_train))
            .shuffle(2000, seed=6).batch(64, drop_remainder=True))
test_ds = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(100)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        logits = model(xb, training=True)
        loss = loss_fn(yb, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 1.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    train_acc.update_state(yb, logits)
    return loss


@tf.function
def test_step(xb, yb):
    test_acc.update_state(yb, model(xb, training=False))


for epoch in range(6):
    train_acc.reset_state()
    test_acc.reset_state()
    losses = [float(train_step(xb, yb)) for xb, yb in train_ds]
    for xb, yb in test_ds:
        test_step(xb, yb)
    print(f"epoch {epoch + 1} loss {np.mean(losses):.4f} "
          f"acc {float(train_acc.result()):.3f} test acc {float(test_acc.result()):.3f}")

majority = max(y_test.mean(), 1 - y_test.mean())
print(f"test accuracy {float(test_acc.result()):.3f}  majority {majority:.3f}")
