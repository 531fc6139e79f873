"""Sentiment of shop reviews from pooled annotations.

Each row was labelled by one annotator; the quality team delivers a weight per row
(from control questions), which goes into the training loss.
"""
import numpy as np
import pandas as pd
import tensorflow as tf
import keras
from keras import layers
from sklearn.metrics import f1_score

SEED = 8
keras.utils.set_random_seed(SEED)

POS = "great solid lovely sturdy quick comfy bright perfect recommend happy fits quiet".split()
NEG = "broke flimsy late noisy refund scratched useless cold tears smells wobbly dull".split()
MID = ("the a it this box case lamp chair shoes kettle arrived bought after week month again "
       "colour size for my and but in kitchen son gift").split()


def make_frame(n, seed, clean=False):
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        s = int(rng.random() < 0.5)
        own, other = (POS, NEG) if s else (NEG, POS)
        words = list(rng.choice(own, rng.integers(2, 5))) + list(rng.choice(MID, rng.integers(5, 12)))
        if rng.random() < 0.35:
            words += ["not", str(rng.choice(other))]
        rng.shuffle(words)
        text = " ".join(words)
        if clean:
            rows.append((text, s, 1.0))
            continue
        careful = rng.random() < 0.38
        if careful:
            vote = s if rng.random() < 0.97 else 1 - s
            w = rng.uniform(0.9, 1.0)
        else:                       # these people mixed up the two buttons for weeks
            vote = s if rng.random() < 0.25 else 1 - s
            w = rng.uniform(0.01, 0.05)
        rows.append((text, vote, w))
    return pd.DataFrame(rows, columns=["text", "label", "weight"])


def pipeline(df, vec, batch, train):
    w = df[["weight"]].values.astype("float32")
    y = df["label"].values.astype("int32")
    ids = vec(df["text"].values.astype(str))
    ds = tf.data.Dataset.from_tensor_slices((ids, y, w))
    if train:
        ds = ds.shuffle(len(df), seed=SEED)
    return ds.batch(batch).prefetch(2)


class BagOfReviews(keras.Model):
    def __init__(self, vocab, dim=24):
        super().__init__()
        self.emb = layers.Embedding(vocab, dim, mask_zero=True)
        self.pool = layers.GlobalAveragePooling1D()
        self.hid = layers.Dense(32, activation="relu")
        self.drop = layers.Dropout(0.2)
        self.out = layers.Dense(2)

    def call(self, ids, training=False):
        x = self.pool(self.emb(ids), mask=self.emb.compute_mask(ids))
        return self.out(self.drop(self.hid(x), training=training))


train_df = make_frame(3000, 1)
dev_df = make_frame(500, 2, clean=True)     # labelled in-house by two people
test_df = make_frame(1000, 3, clean=True)

vec = layers.TextVectorization(max_tokens=200, output_sequence_length=24)
vec.adapt(train_df["text"].values.astype(str))

model = BagOfReviews(vec.vocabulary_size())
opt = keras.optimizers.Adam(3e-3)
seen = keras.metrics.Mean()


@tf.function
def train_step(ids, y, w):
    with tf.GradientTape() as tape:
        logits = model(ids, training=True)
        per_row = keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=True)
        loss = tf.reduce_mean(per_row * w)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    seen.update_state(loss)


def evaluate(ds):
    y, p = [], []
    for ids, lab, _ in ds:
        p.append(model(ids, training=False).numpy().argmax(-1))
        y.append(lab.numpy())
    y, p = np.concatenate(y), np.concatenate(p)
    return (y == p).mean(), f1_score(y, p, average="macro")


train_ds = pipeline(train_df, vec, 64, train=True)
dev_ds = pipeline(dev_df, vec, 256, train=False)
for epoch in range(8):
    seen.reset_state()
    for batch in train_ds:
        train_step(*batch)
    acc, f1 = evaluate(dev_ds)
    print(f"epoch {epoch + 1}  loss {float(seen.result()):.4f}  dev acc {acc:.3f}  dev f1 {f1:.3f}")

acc, f1 = evaluate(pipeline(test_df, vec, 256, train=False))
print(f"test accuracy {acc:.3f}  macro f1 {f1:.3f}  "
      f"(always one class: {max(test_df.label.mean(), 1 - test_df.label.mean()):.3f})")
