"""
Decoder over chord symbols, used to write the second chorus of a tune.
BERT layers are reused as a small left-to-right model.
"""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import time
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFBertLMHeadModel

tf_keras.utils.set_random_seed(17)
RNG = np.random.default_rng(17)

ROOTS = 12
QUAL = ["maj7", "m7", "7"]
VOCAB = 2 + ROOTS * len(QUAL)         # pad, start, chords
HALF = 8
SEQ = 1 + 2 * HALF


def chord(root, qual):
    return 2 + (root % ROOTS) * 3 + QUAL.index(qual)


def tune():
    """Two choruses of eight chords; the second one is played a fourth higher."""
    root = int(RNG.integers(ROOTS))
    chorus = []
    for _ in range(HALF):
        chorus.append((root, QUAL[RNG.choice(3, p=[0.3, 0.4, 0.3])]))
        root += int(RNG.choice([5, 7, 10, 1, 9], p=[0.35, 0.2, 0.2, 0.15, 0.1]))
    return [1] + [chord(r, q) for r, q in chorus] + [chord(r + 5, q) for r, q in chorus]


def corpus(n):
    return np.array([tune() for _ in range(n)], dtype="int32")


def name(i):
    return "^" if i < 2 else ["C", "Db", "D", "Eb", "E", "F", "Gb", "G", "Ab", "A", "Bb", "B"][(i - 2) // 3] + QUAL[(i - 2) % 3]


class Continuation(tf_keras.callbacks.Callback):
    def __init__(self, songs, start=1 + HALF):
        super().__init__()
        self.songs, self.start = songs, start

    def rollout(self, steps):
        ids = self.songs[:, :self.start]
        for _ in range(steps):
            logits = self.model(input_ids=tf.constant(ids), training=False).logits
            ids = np.concatenate([ids, tf.argmax(logits[:, -1], -1, output_type=tf.int32).numpy()[:, None]], 1)
        return ids

    def on_epoch_end(self, epoch, logs=None):
        if epoch % 3 == 2:
            print(f"epoch {epoch + 1:2d} loss {logs['loss']:.4f} val_loss {logs['val_loss']:.4f}")


def dataset(ids, bs, shuffle=False):
    d = tf.data.Dataset.from_tensor_slices({"input_ids": ids, "labels": ids})
    return (d.shuffle(len(ids)) if shuffle else d).batch(bs)


def main():
    t0 = time.time()
    train, valid = corpus(1600), corpus(200)
    cfg = BertConfig(vocab_size=VOCAB, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                     intermediate_size=128, max_position_embeddings=SEQ, hidden_dropout_prob=0.0,
                     attention_probs_dropout_prob=0.0, is_decoder=True)
    model = TFBertLMHeadModel(cfg)
    model.compile(optimizer=tf_keras.optimizers.Adam(2e-3))
    probe = Continuation(valid)
    model.fit(dataset(train, 32, True), validation_data=dataset(valid, 100), epochs=9,
              callbacks=[probe], verbose=0)

    ids = probe.rollout(HALF)
    print("first chorus :", " ".join(name(i) for i in valid[0, 1:1 + HALF]))
    print("written      :", " ".join(name(i) for i in ids[0, 1 + HALF:]))
    right = (ids[:, 1 + HALF:] == valid[:, 1 + HALF:]).mean()
    print(f"second chorus written correctly: {right:.3f} (uniform {1 / 36:.3f})")
    print(f"{time.time() - t0:.1f}s")


if __name__ == "__main__":
    main()
