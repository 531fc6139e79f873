"""Masked-token pretraining of a small TF BERT on synthetic peptide families."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFBertForMaskedLM

AMINO = "ACDEFGHIKLMNPQRSTVWY"
PAD, CLS, SEP, MASK = 0, 1, 2, 3
OFFSET = 4
MAXLEN = 30
VOCAB = OFFSET + len(AMINO)


class Families:
    """Each family has a consensus; members mutate it and are cut to a random length."""

    def __init__(self, k, seed):
        r = np.random.default_rng(seed)
        self.consensus = r.integers(0, len(AMINO), size=(k, MAXLEN - 2))

    def sample(self, n, rng, mutate=0.08):
        ids = np.full((n, MAXLEN), PAD, dtype=np.int32)
        for i in range(n):
            seq = self.consensus[rng.integers(len(self.consensus))].copy()
            m = rng.random(len(seq)) < mutate
            seq[m] = rng.integers(0, len(AMINO), m.sum())
            seq = seq[: rng.integers(18, MAXLEN - 1)]
            ids[i, : len(seq) + 2] = np.concatenate([[CLS], seq + OFFSET, [SEP]])
        return ids


def corrupt(ids):
    """Dynamic masking: 15 %, of these 80 % [MASK], 10 % random, 10 % kept."""
    shape = tf.shape(ids)
    pick = (tf.random.uniform(shape) < 0.15) & (ids >= OFFSET)
    labels = tf.where(pick, ids, -100)
    u = tf.random.uniform(shape)
    noise = tf.random.uniform(shape, OFFSET, VOCAB, dtype=tf.int32)
    x = tf.where(pick & (u < 0.8), MASK, ids)
    x = tf.where(pick & (u >= 0.8) & (u < 0.9), noise, x)
    attention = tf.cast(ids != PAD, tf.int32)
    return {"input_ids": x, "attention_mask": attention, "labels": labels}


def masked_accuracy(model, ids, rounds=3):
    tf.random.set_seed(99)
    hit = total = 0
    for _ in range(rounds):
        b = corrupt(tf.constant(ids))
        y = b.pop("labels").numpy()
        p = model(b, training=False).logits.numpy().argmax(-1)
        m = y != -100
        hit += (p[m] == y[m]).sum()
        total += m.sum()
    return hit / total


def main():
    tf_keras.utils.set_random_seed(6)
    fam = Families(6, seed=1)
    rng = np.random.default_rng(6)
    train, test = fam.sample(2000, rng), fam.sample(200, rng)

    model = TFBertForMaskedLM(BertConfig(
        vocab_size=VOCAB, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, max_position_embeddings=MAXLEN, pad_token_id=PAD,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
    ds = tf.data.Dataset.from_tensor_slices(train).shuffle(2000).batch(48).map(corrupt).prefetch(1)
    model(next(iter(ds)))
    opt = tf_keras.optimizers.Adam(2e-3, beta_2=0.98)
    params = model.trainable_variables

    @tf.function
    def step(batch):
        with tf.GradientTape() as tape:
            out = model(batch, training=True)
            loss = tf.reduce_mean(out.loss)
        grads = tape.gradient(loss, params)
        grads, norm = tf.clip_by_global_norm(grads, 1.0)
        pairs = [(g, v) for g, v in zip(grads, params) if g is not None]
        opt.apply_gradients(pairs)
        return loss, norm

    for epoch in range(6):
        opt.learning_rate.assign(2e-3 * (1.0 - epoch / 8))
        logs = np.array([[float(v) for v in step(b)] for b in ds])
        print(f"epoch {epoch + 1} loss {logs[:, 0].mean():.3f} grad norm {logs[:, 1].mean():.2f}")

    counts = np.bincount(test[test >= OFFSET], minlength=VOCAB)
    print(f"most frequent residue {counts.max() / counts.sum():.3f}   "
          f"held-out masked accuracy {masked_accuracy(model, test):.3f}")


if __name__ == "__main__":
    main()
