"""Intent detection for helpdesk messages, bag-of-embeddings, hand-written loop."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)

N_INTENTS = 60
VOCAB = 900
MAXLEN = 14
EPOCHS = 6
BATCH = 50


def make_messages(n):
    """Every intent owns a handful of key words, the rest is chatter."""
    key_rng = np.random.default_rng(99)
    keys = key_rng.integers(100, VOCAB, size=(N_INTENTS, 12))
    y = rng.integers(0, N_INTENTS, size=n)
    x = np.zeros((n, MAXLEN), dtype=np.int32)
    for i, intent in enumerate(y):
        length = rng.integers(7, MAXLEN + 1)
        n_key = rng.integers(3, 6)
        words = np.concatenate([
            rng.choice(keys[intent], size=n_key),
            rng.integers(1, VOCAB, size=length - n_key),
        ])
        rng.shuffle(words)
        x[i, :length] = words
    return x, y.astype(np.int32)


class IntentNet(keras.Model):
    def __init__(self, dim=48):
        super().__init__()
        self.emb = layers.Embedding(VOCAB, dim, mask_zero=False)
        self.hidden = layers.Dense(96, activation="relu")
        self.drop = layers.Dropout(0.4)
        self.head = layers.Dense(N_INTENTS, activation="softmax")

    def call(self, ids, training=False):
        keep = tf.cast(ids > 0, tf.float32)[..., None]
        v = tf.reduce_sum(self.emb(ids) * keep, 1) / tf.reduce_sum(keep, 1)
        return self.head(self.drop(self.hidden(v), training=training))


x_train, y_train = make_messages(5000)
x_val, y_val = make_messages(800)

model = IntentNet()
optimizer = keras.optimizers.Adam(learning_rate=3e-3)
train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(5000, seed=1).batch(BATCH)
loss_avg = keras.metrics.Mean()
acc_avg = keras.metrics.SparseCategoricalAccuracy()


def criterion(y, scores):
    per_example = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=scores)
    return tf.reduce_mean(per_example)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        scores = model(x, training=True)
        loss = criterion(y, scores)
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    loss_avg.update_state(loss)
    acc_avg.update_state(y, scores)


for epoch in range(1, EPOCHS + 1):
    loss_avg.reset_state()
    acc_avg.reset_state()
    for xb, yb in train:
        step(xb, yb)
    val_scores = model(x_val)
    val_loss = float(criterion(y_val, val_scores))
    val_acc = float(np.mean(np.argmax(val_scores, 1) == y_val))
    print(f"epoch {epoch}: loss {float(loss_avg.result()):.4f} acc {float(acc_avg.result()):.4f} "
          f"val_loss {val_loss:.4f} val_acc {val_acc:.4f}")

print(f"held-out accuracy {val_acc:.4f}, guessing would give {1 / N_INTENTS:.4f}")
