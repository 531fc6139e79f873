import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFBertForTokenClassification

WIDTH = 20
N_SYMBOLS = 40
TAGS = 4
PAIR_OPEN = 38
PAIR_CLOSE = 39


def make_sequences(n, rng):
    ids = rng.integers(0, 38, (n, WIDTH))
    tags = np.where(ids < 12, 0, 1)
    for row in range(n):
        a = rng.integers(0, WIDTH - 6)
        b = a + rng.integers(2, 6)
        ids[row, a], ids[row, b] = PAIR_OPEN, PAIR_CLOSE
        tags[row, a], tags[row, b] = 3, 3
        tags[row, a + 1:b] = 2
    return ids.astype("int32"), tags.astype("int32")


def stream(n, batch_size, seed):
    ids, tags = make_sequences(n, np.random.default_rng(seed))
    ds = tf.data.Dataset.from_tensor_slices({"input_ids": ids, "labels": tags})
    return ds.shuffle(n, seed=seed).batch(batch_size), ids, tags


def main():
    tf_keras.utils.set_random_seed(6)
    config = BertConfig(
        vocab_size=N_SYMBOLS, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, max_position_embeddings=WIDTH, num_labels=TAGS,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )
    model = TFBertForTokenClassification(config)
    train, _, _ = stream(1280, 32, seed=6)
    valid, ids, tags = stream(300, 100, seed=60)

    steps = 40 * 5
    schedule = tf_keras.optimizers.schedules.PolynomialDecay(2e-3, steps, end_learning_rate=1e-5)
    model.compile(optimizer=tf_keras.optimizers.Adam(schedule))
    model.fit(train, validation_data=valid, epochs=5, verbose=2)

    pred = model.predict(tf.data.Dataset.from_tensor_slices({"input_ids": ids}).batch(100), verbose=0)
    pred = pred.logits.argmax(-1)
    majority = max(np.bincount(tags.ravel())) / tags.size
    print(f"tag accuracy {(pred == tags).mean():.4f} (majority {majority:.4f})")
    print(f"inside-tag recall {(pred[tags == 2] == 2).mean():.4f}")


if __name__ == "__main__":
    main()
