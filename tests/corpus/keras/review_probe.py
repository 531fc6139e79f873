"""Sentiment probe: everything below the last transformer block is held still,
and gradients of four small batches are summed before each update."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

GOOD = "great lovely superb tasty friendly bright calm perfect".split()
BAD = "awful rude stale noisy dirty slow bland broken".split()
NEUTRAL = "the room food waiter place was and we came on monday at noon with a table view".split()
VOCAB = ["[PAD]", "[CLS]"] + GOOD + BAD + NEUTRAL
L, ACCUM, MICRO = 20, 4, 16


def reviews(n, seed):
    rng = np.random.default_rng(seed)
    ids = np.zeros((n, L), np.int32)
    y = rng.integers(0, 2, n).astype(np.int32)
    for k in range(n):
        m = rng.integers(8, L - 1)
        words = rng.choice(NEUTRAL, m).astype(object)
        spots = rng.choice(m, 4, replace=False)
        own, other = (GOOD, BAD) if y[k] else (BAD, GOOD)
        words[spots[:3]] = rng.choice(own, 3)
        words[spots[3]] = rng.choice(other)
        ids[k, :m + 1] = [1] + [VOCAB.index(w) for w in words]
    return ids, y


tf.keras.utils.set_random_seed(4)
ids, y = reviews(8192, 1)
ids_v, y_v = reviews(400, 2)

config = DistilBertConfig(vocab_size=len(VOCAB), dim=64, hidden_dim=128, n_layers=2, n_heads=4,
                          max_position_embeddings=L, num_labels=2, dropout=0.0, attention_dropout=0.0,
                          seq_classif_dropout=0.1, initializer_range=0.1)
model = TFDistilBertForSequenceClassification(config)
model({"input_ids": ids[:2]})
model.distilbert.embeddings.trainable = False
model.distilbert.transformer.layer[0].trainable = False
variables = model.trainable_variables
print("tensors trained:", len(variables), "of", len(model.variables))

optimizer = tf.keras.optimizers.Adam(1e-3)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]


@tf.function
def accumulate(xb, yb):
    mask = tf.cast(xb > 0, tf.int32)
    with tf.GradientTape() as tape:
        logits = model({"input_ids": xb, "attention_mask": mask}, training=True).logits
        loss = loss_fn(yb, logits)
        share = loss / ACCUM
    for s, g in zip(sums, tape.gradient(share, variables)):
        s.assign_add(g)
    return loss


@tf.function
def update():
    grads, _ = tf.clip_by_global_norm([s.read_value() for s in sums], 1.0)
    optimizer.apply_gradients(zip(grads, variables))
    for s in sums:
        s.assign(tf.zeros_like(s))


ds = tf.data.Dataset.from_tensor_slices((ids, y)).shuffle(8192).batch(MICRO, drop_remainder=True)
for epoch in range(3):
    losses = []
    for k, (xb, yb) in enumerate(ds, start=1):
        losses.append(float(accumulate(xb, yb)))
        if k % ACCUM == 0:
            update()
    out = model({"input_ids": ids_v, "attention_mask": (ids_v > 0).astype(np.int32)}, training=False).logits
    acc = float((out.numpy().argmax(-1) == y_v).mean())
    print(f"epoch {epoch} loss {np.mean(losses):.4f} valid accuracy {acc:.3f}")
