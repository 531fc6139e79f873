import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import tf_keras as keras
from transformers import BertConfig, TFBertForSequenceClassification

GOOD = "great lovely superb moving funny clever warm bright charming sharp fresh brave".split()
BAD = "dull awful boring flat weak noisy silly bland cold stale clumsy grim".split()
REST = ("the a film plot actor scene music was is felt and but with of in this that quite rather so very "
        "camera story ending cast script light pace voice crowd city night set").split()
NAMES = [a + b + c for a in "ka lo mi ru te vo si".split() for b in "ran vel dor mun".split()
         for c in "a o is en ar ik".split()]
VOCAB = ["[PAD]", "[CLS]", "[SEP]"] + GOOD + BAD + REST + NAMES
ID = {w: i for i, w in enumerate(VOCAB)}
LEN = 18


def write_reviews(n, seed):
    rng = np.random.default_rng(seed)
    texts, stars = [], []
    for _ in range(n):
        positive = int(rng.integers(2))
        words = list(rng.choice(REST, size=rng.integers(9, LEN - 2)))
        mine, other = (GOOD, BAD) if positive else (BAD, GOOD)
        spots = rng.permutation(len(words))[:7]
        for s in spots[:3]:
            words[s] = rng.choice(mine)
        if rng.random() < 0.5:
            words[spots[3]] = rng.choice(other)
        for s in spots[4:]:
            words[s] = rng.choice(NAMES)
        texts.append(words)
        stars.append(positive if rng.random() < 0.9 else 1 - positive)
    return texts, np.array(stars, "int32")


def tokenise(texts):
    ids = np.zeros((len(texts), LEN), "int32")
    for r, words in enumerate(texts):
        row = [ID["[CLS]"]] + [ID[w] for w in words] + [ID["[SEP]"]]
        ids[r, :len(row)] = row
    return ids


def dataset(texts, stars, training=False):
    ids = tokenise(texts)
    ds = tf.data.Dataset.from_tensor_slices(
        ({"input_ids": ids, "attention_mask": (ids != 0).astype("int32")}, stars))
    if training:
        ds = ds.shuffle(len(ids), seed=0)
    return ds.batch(32)


def build():
    cfg = BertConfig(vocab_size=len(VOCAB), hidden_size=96, num_hidden_layers=2, num_attention_heads=4,
                     intermediate_size=192, max_position_embeddings=LEN, num_labels=2,
                     hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    model = TFBertForSequenceClassification(cfg)
    model.compile(keras.optimizers.Adam(1e-3),
                  keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    return model


if __name__ == "__main__":
    keras.utils.set_random_seed(1)
    texts, stars = write_reviews(900, seed=1)
    n_train = 500
    train_texts, train_stars = texts[:n_train], stars[:n_train]
    val_texts, val_stars = texts[n_train:], stars[n_train:]
    train_ds = dataset(train_texts, train_stars, training=True)
    val_ds = dataset(train_texts, train_stars)
    model = build()
    history = model.fit(train_ds, validation_data=val_ds, epochs=16, verbose=2)
    best = int(np.argmax(history.history["val_accuracy"]))
    print(f"best epoch {best + 1}, validation accuracy {history.history['val_accuracy'][best]:.3f}")
