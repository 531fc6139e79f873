import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification, create_optimizer


@dataclass
class Cfg:
    n_train: int = 1600
    n_test: int = 400
    maxlen: int = 20
    batch: int = 32
    epochs: int = 6
    lr: float = 1e-3
    seed: int = 5


GOOD = "great lovely superb tasty friendly quick clean warm fresh perfect".split()
BAD = "awful cold rude slow dirty stale bland greasy noisy terrible".split()
FILL = ("the food staff room was and place we our dinner table soup waiter visit night bill they "
        "fish with coffee had came to it").split()
SPECIAL = ["[PAD]", "[CLS]", "[SEP]", "not"]
VOCAB = {w: i for i, w in enumerate(SPECIAL + GOOD + BAD + FILL)}


def review(rng, label):
    words = []
    for _ in range(rng.integers(7, 17)):
        if rng.random() < 0.3:
            agree = rng.random() < 0.94
            good = (label == 1) == agree
            if rng.random() < 0.2:
                words += ["not", rng.choice(BAD if good else GOOD)]
            else:
                words.append(rng.choice(GOOD if good else BAD))
        else:
            words.append(rng.choice(FILL))
    return words


def tokenize(words, maxlen):
    ids = [VOCAB["[CLS]"]] + [VOCAB[w] for w in words][: maxlen - 2] + [VOCAB["[SEP]"]]
    mask = [1] * len(ids) + [0] * (maxlen - len(ids))
    return ids + [0] * (maxlen - len(ids)), mask


def dataset(n, cfg, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    enc = [tokenize(review(rng, k), cfg.maxlen) for k in y]
    ids = np.array([e[0] for e in enc], "int32")
    mask = np.array([e[1] for e in enc], "int32")
    return {"input_ids": ids, "attention_mask": mask}, y


def main(cfg=Cfg()):
    tf.keras.utils.set_random_seed(cfg.seed)
    x, y = dataset(cfg.n_train, cfg, 1)
    xt, yt = dataset(cfg.n_test, cfg, 2)
    train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(cfg.n_train).batch(cfg.batch)
    test = tf.data.Dataset.from_tensor_slices((xt, yt)).batch(100)

    conf = DistilBertConfig(vocab_size=len(VOCAB), max_position_embeddings=cfg.maxlen, dim=64, n_layers=2,
                            n_heads=4, hidden_dim=128, num_labels=2, seq_classif_dropout=0.1)
    model = TFDistilBertForSequenceClassification(conf)
    optimizer, schedule = create_optimizer(
        init_lr=cfg.lr,
        num_train_steps=cfg.epochs,
        num_warmup_steps=0,
        weight_decay_rate=0.01,
    )
    model.compile(optimizer=optimizer,
                  loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"])
    model.fit(train, validation_data=test, epochs=cfg.epochs, verbose=2)
    logits = model.predict(test, verbose=0).logits
    print("test accuracy: %.3f" % (logits.argmax(-1) == yt).mean())


if __name__ == "__main__":
    main()
