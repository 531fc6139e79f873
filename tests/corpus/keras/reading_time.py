import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("USE_TORCH", "0")
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import DistilBertConfig, TFAutoModelForSequenceClassification

PAD, CLS, SEP = 0, 1, 2
FIRST_WORD = 3
VOCAB = 200
MAX_LEN = 20


def make_notes(n, seed):
    """Effort score of a note: some words weigh more than others, relative to its length."""
    weight = np.random.default_rng(99).normal(0, 1, VOCAB)
    rng = np.random.default_rng(seed)
    ids = np.full((n, MAX_LEN), PAD, "int32")
    effort = np.zeros(n, "float32")
    for i in range(n):
        k = rng.integers(5, MAX_LEN - 1)
        words = rng.integers(FIRST_WORD, 80, k)
        ids[i, : k + 2] = [CLS, *words, SEP]
        effort[i] = 2.0 * weight[words].mean() + rng.normal(0, 0.05)
    return ids, effort


def as_dataset(ids, effort, batch, shuffle=False):
    rows = {
        "input_ids": ids,
        "attention_mask": (ids != PAD).astype("int32"),
        "labels": effort,
    }
    ds = tf.data.Dataset.from_tensor_slices(rows)
    if shuffle:
        ds = ds.shuffle(len(ids), seed=0)
    return ds.batch(batch)


def scorer():
    config = DistilBertConfig(
        vocab_size=VOCAB,
        dim=64,
        hidden_dim=128,
        n_layers=2,
        n_heads=4,
        max_position_embeddings=MAX_LEN,
        num_labels=1,
        dropout=0.0,
        attention_dropout=0.0,
        seq_classif_dropout=0.0,
    )
    return TFAutoModelForSequenceClassification.from_config(config)


def main(epochs=8, batch=32):
    tf_keras.utils.set_random_seed(14)
    ids, effort = make_notes(2400, 0)
    test_ids, test_effort = make_notes(400, 1)
    train = as_dataset(ids, effort, batch, shuffle=True)
    test = as_dataset(test_ids, test_effort, batch)

    steps = epochs * len(train)
    rate = tf_keras.optimizers.schedules.PolynomialDecay(1e-3, steps, end_learning_rate=0.0)
    model = scorer()
    model.compile(optimizer=tf_keras.optimizers.Adam(rate, clipnorm=1.0))
    model.fit(train, validation_data=test, epochs=epochs, verbose=2)

    guess = model.predict(test, verbose=0).logits[:, 0]
    r2 = 1 - ((test_effort - guess) ** 2).sum() / ((test_effort - test_effort.mean()) ** 2).sum()
    print(f"variance of the labels {test_effort.var():.3f}")
    print(f"test MSE {((test_effort - guess) ** 2).mean():.4f}  R2 {r2:.3f}")


if __name__ == "__main__":
    main()
