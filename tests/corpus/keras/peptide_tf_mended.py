import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

AMINO = "ACDEFGHIKLMNPQRSTVWY"
TOK = {a: i + 2 for i, a in enumerate(AMINO)}
CLS = 1


def simulate(n, length, rng):
    ids = np.zeros((n, length + 1), dtype="int32")
    cls = rng.integers(0, 2, size=n).astype("int32")
    heavy = np.array([TOK[a] for a in "KRH"])
    every = np.array(list(TOK.values()))
    for i in range(n):
        seq = rng.choice(every, size=length)
        if cls[i]:
            spots = rng.choice(length, size=5, replace=False)
            seq[spots] = rng.choice(heavy, size=5)
        ids[i] = np.concatenate([[CLS], seq])
    return ids, cls


def to_dataset(ids, cls, batch_size, train):
    columns = {
        "input_ids": ids,
        "attention_mask": np.ones_like(ids),
        "labels": cls,
    }
    ds = tf.data.Dataset.from_tensor_slices(columns)
    if train:
        ds = ds.shuffle(len(ids), seed=9)
    return ds.batch(batch_size)


class Peek(tf_keras.callbacks.Callback):
    def __init__(self, ids, cls):
        super().__init__()
        self.ids, self.cls = ids, cls
        self.scores = []

    def on_epoch_end(self, epoch, logs=None):
        logits = self.model.predict({"input_ids": self.ids}, verbose=0, batch_size=128).logits
        self.scores.append(float(np.mean(logits.argmax(-1) == self.cls)))
        print(f"epoch {epoch}  loss {logs['loss']:.4f}  held-out accuracy {self.scores[-1]:.3f}")


def main():
    tf_keras.utils.set_random_seed(9)
    rng = np.random.default_rng(9)
    train_ids, train_cls = simulate(1200, 18, rng)
    test_ids, test_cls = simulate(400, 18, rng)

    model = TFDistilBertForSequenceClassification(
        DistilBertConfig(
            vocab_size=len(TOK) + 2,
            dim=48,
            n_layers=1,
            n_heads=4,
            hidden_dim=96,
            max_position_embeddings=24,
            dropout=0.0,
            attention_dropout=0.0,
            seq_classif_dropout=0.0,
            num_labels=2,
        )
    )
    model.compile(optimizer=tf_keras.optimizers.Adam(2e-3))
    peek = Peek(test_ids, test_cls)
    model.fit(to_dataset(train_ids, train_cls, 32, True), epochs=4, callbacks=[peek], verbose=0)
    print(f"final held-out accuracy {peek.scores[-1]:.3f}")


if __name__ == "__main__":
    main()
