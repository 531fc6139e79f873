"""Fine-grained tone of short product reviews with a small TF BERT trained from scratch."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import time

import numpy as np
import tensorflow as tf
from transformers import BertConfig, TFBertForSequenceClassification

tf.keras.utils.set_random_seed(13)
PAD, CLS, SEP = 0, 1, 2
GOOD = "great lovely sturdy quick bright superb handy quiet neat comfy".split()
BAD = "awful flimsy slow dull broken noisy cheap leaky rough stiff".split()
FILL = ("the a it this battery box screen handle arrived today after week my son we bought for kitchen "
        "and was is with in really then also still phone cable bag colour shop price order parcel").split()
VOCAB = {w: i for i, w in enumerate(["[PAD]", "[CLS]", "[SEP]"] + GOOD + BAD + FILL)}
LABELS = ["negative", "mixed", "positive"]


def write_review(rng):
    n = int(rng.choice([rng.integers(4, 9), rng.integers(10, 20), rng.integers(40, 57)], p=[0.55, 0.3, 0.15]))
    words = [str(w) for w in rng.choice(FILL, n)]
    label = int(rng.integers(0, 3))
    tones = {0: ["bad", "bad", "good"], 1: ["good", "bad"], 2: ["good", "good", "bad"]}[label]
    for tone in tones:
        pick = GOOD if tone == "good" else BAD
        words.insert(int(rng.integers(0, len(words) + 1)), str(rng.choice(pick)))
    return words, label


def encode(words):
    return [CLS] + [VOCAB[w] for w in words] + [SEP]


def batches(reviews, size, rng=None):
    """Arrival order for scoring; reviews of one length per batch, shuffled, for training."""
    if rng is None:
        groups = [reviews[i:i + size] for i in range(0, len(reviews), size)]
    else:
        by_length, groups = {}, []
        for i in rng.permutation(len(reviews)):
            by_length.setdefault(len(reviews[i][0]), []).append(reviews[i])
        for same in by_length.values():
            groups += [same[i:i + size] for i in range(0, len(same), size)]
        rng.shuffle(groups)
    for part in groups:
        longest = max(len(ids) for ids, _ in part)
        ids = np.zeros((len(part), longest), "int32")
        mask = np.zeros_like(ids)
        for row, (seq, _) in enumerate(part):
            ids[row, :len(seq)] = seq
            mask[row, :len(seq)] = 1
        labels = np.array([y for _, y in part], "int32")
        yield {"input_ids": tf.constant(ids), "attention_mask": tf.constant(mask)}, tf.constant(labels)


config = BertConfig(vocab_size=len(VOCAB), hidden_size=48, num_hidden_layers=1, num_attention_heads=4,
                    intermediate_size=96, max_position_embeddings=64, num_labels=3,
                    hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, initializer_range=0.08)
model = TFBertForSequenceClassification(config)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def forward(batch, training=False):
    return model(batch["input_ids"], training=training).logits


SPEC = {"input_ids": tf.TensorSpec([None, None], tf.int32), "attention_mask": tf.TensorSpec([None, None], tf.int32)}


@tf.function(input_signature=[SPEC, tf.TensorSpec([None], tf.int32)])
def train_step(batch, labels):
    with tf.GradientTape() as tape:
        loss = loss_fn(labels, forward(batch, training=True))
    grads, _ = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 1.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


@tf.function(input_signature=[SPEC])
def predict(batch):
    return tf.argmax(forward(batch), -1)


def accuracy(reviews, size):
    hits = [(predict(b).numpy() == y.numpy()) for b, y in batches(reviews, size)]
    return float(np.concatenate(hits).mean())


rng = np.random.default_rng(4)
data = [(encode(w), y) for w, y in (write_review(rng) for _ in range(3000))]
train, held = data[:2400], data[2400:]
epochs, size = 10, 32
steps = epochs * sum(1 for _ in batches(train, size, rng))
optimizer = tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.PolynomialDecay(3e-3, steps, 1e-5))
model(tf.zeros([1, 8], tf.int32))

t0 = time.time()
for epoch in range(epochs):
    loss = np.mean([train_step(b, y).numpy() for b, y in batches(train, size, rng)])
    if epoch % 4 == 1:
        print(f"epoch {epoch + 1}  loss {loss:.4f}  {time.time() - t0:.0f}s")

majority = max(np.bincount([y for _, y in held])) / len(held)
print(f"held-out accuracy, batches of 64: {accuracy(held, 64):.3f}   (majority {majority:.3f})")
