"""A small GPT-2 over chord progressions (TF, tf_keras)."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from transformers import GPT2Config, TFGPT2LMHeadModel

tf.random.set_seed(0)
CHORDS = ["<s>"] + [r + q for r in "CDEFGAB" for q in ("", "m", "7")]
V = len(CHORDS)


def transition_table(seed=9):
    rng = np.random.default_rng(seed)
    table = np.zeros((V, V))
    for c in range(V):
        nxt = rng.choice(np.arange(1, V), 4, replace=False)
        table[c, nxt] = [0.55, 0.3, 0.1, 0.05]
    return table


TABLE = transition_table()


def songs(n, length, seed):
    rng = np.random.default_rng(seed)
    cum = TABLE.cumsum(1)
    out = np.zeros((n, length), np.int32)
    for t in range(1, length):
        r = rng.uniform(size=(n, 1))
        out[:, t] = (cum[out[:, t - 1]] < r).sum(1)
    return np.minimum(out, V - 1)


def to_batches(ids, batch, shuffle):
    inputs = ids[:, :-1]
    labels = ids[:, 1:]
    ds = tf.data.Dataset.from_tensor_slices({"input_ids": inputs, "labels": labels})
    if shuffle:
        ds = ds.shuffle(len(ids), seed=1)
    return ds.batch(batch)


def plausible(model, n=64, length=20):
    """Share of steps in sampled songs that the chord table allows."""
    ids = np.zeros((n, 1), np.int32)
    rng = np.random.default_rng(5)
    for _ in range(length):
        p = tf.nn.softmax(model(ids).logits[:, -1]).numpy()
        r = rng.uniform(size=(n, 1))
        nxt = np.minimum((p.cumsum(1) < r).sum(1), V - 1)
        ids = np.concatenate([ids, nxt[:, None].astype(np.int32)], 1)
    return float((TABLE[ids[:, :-1], ids[:, 1:]] > 0).mean())


def main():
    train = to_batches(songs(1600, 25, 1), 32, True)
    valid = to_batches(songs(200, 25, 2), 64, False)
    cfg = GPT2Config(vocab_size=V, n_positions=32, n_embd=48, n_layer=2, n_head=4,
                     bos_token_id=0, eos_token_id=0,
                     resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
    model = TFGPT2LMHeadModel(cfg)
    model.compile(optimizer=tf.keras.optimizers.Adam(2e-3))
    model.fit(train, validation_data=valid, epochs=6, verbose=2)
    print(f"steps allowed by the table in sampled songs: {plausible(model):.3f}")


if __name__ == "__main__":
    main()
