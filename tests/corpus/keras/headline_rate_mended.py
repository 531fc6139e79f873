import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
import numpy as np
import pandas as pd
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFAutoModelForSequenceClassification

TOPICS = ["budget", "storm", "election", "recipe", "derby", "museum", "bank", "school"]
HOOKS = ["secret", "shocking", "why", "how", "live", "review", "opinion", "brief"]
REST = "the of city new after in for two plan week day report local on says at".split()
PAD = 0


def read_log(n, seed):
    world = np.random.default_rng(0)
    topic_pull = world.normal(scale=0.7, size=len(TOPICS))
    hook_pull = world.normal(scale=0.9, size=len(HOOKS))
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        t, h = rng.integers(len(TOPICS)), rng.integers(len(HOOKS))
        words = list(rng.choice(REST, size=rng.integers(3, 9))) + [TOPICS[t], HOOKS[h]]
        rng.shuffle(words)
        p = 1 / (1 + np.exp(-(topic_pull[t] + hook_pull[h])))
        views = int(rng.integers(150, 900))
        rows.append((" ".join(words), views, int(rng.binomial(views, p))))
    return pd.DataFrame(rows, columns=["headline", "views", "clicks"])


def click_rates(log):
    views = log["views"].to_numpy()
    clicks = log["clicks"].to_numpy()
    rates = np.zeros_like(views, dtype="float32")
    for i in range(len(log)):
        rates[i] = clicks[i] / views[i]
    return rates


def encode(headlines, vocab, length=14):
    ids = np.full((len(headlines), length), PAD, "int32")
    for i, text in enumerate(headlines):
        row = [1] + [vocab[w] for w in text.split()]
        ids[i, : len(row)] = row
    return {"input_ids": ids, "attention_mask": (ids != PAD).astype("int32")}


def to_dataset(log, vocab, shuffle):
    features = encode(log["headline"], vocab)
    ds = tf.data.Dataset.from_tensor_slices((features, click_rates(log).astype("float32")))
    if shuffle:
        ds = ds.shuffle(len(log), seed=3)
    return ds.batch(32)


def main():
    tf_keras.utils.set_random_seed(17)
    train, valid, test = read_log(1600, 1), read_log(300, 2), read_log(500, 3)
    vocab = {w: i + 2 for i, w in enumerate(TOPICS + HOOKS + REST)}
    config = BertConfig(
        vocab_size=len(vocab) + 2, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=64, max_position_embeddings=16, num_labels=1, hidden_dropout_prob=0.05,
    )
    model = TFAutoModelForSequenceClassification.from_config(config)
    model.compile(optimizer=tf_keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
    model.fit(
        to_dataset(train, vocab, True),
        validation_data=to_dataset(valid, vocab, False),
        epochs=6,
        verbose=2,
    )
    pred = model.predict(encode(test["headline"], vocab), verbose=0).logits[:, 0]
    print(f"mean predicted rate {pred.mean():.3f}, overall rate {test.clicks.sum() / test.views.sum():.3f}")
    best = test.assign(pred=pred).nlargest(50, "pred")
    print(f"rate of the 50 headlines picked {best.clicks.sum() / best.views.sum():.3f}")


if __name__ == "__main__":
    main()
