import math
from dataclasses import dataclass

import numpy as np
import keras
from keras import layers


@dataclass
class Config:
    n_train: int = 1600
    n_test: int = 400
    max_len: int = 24
    embed_dim: int = 24
    filters: int = 32
    epochs: int = 8
    batch_size: int = 32
    lr: float = 3e-3
    seed: int = 21


GOOD = "great lovely excellent superb tasty friendly clean".split()
BAD = "awful rude cold dirty bland slow broken".split()
NEUTRAL = ("the a food room staff service place was were with and table in at of "
           "evening dinner visit hotel lunch waiter menu").split()


def write_review(rng, positive):
    words = []
    for _ in range(rng.integers(3, 6)):
        words += list(rng.choice(NEUTRAL, rng.integers(1, 4)))
        use_good = positive if rng.random() < 0.85 else not positive
        if rng.random() < 0.4:
            words += ["not", str(rng.choice(BAD if use_good else GOOD))]
        else:
            words.append(str(rng.choice(GOOD if use_good else BAD)))
    return " ".join(words)


def make_corpus(n, rng):
    labels = rng.integers(0, 2, n)
    texts = [write_review(rng, bool(l)) for l in labels]
    return np.array(texts), labels.astype("float32")


def vectorize(train_texts, test_texts, cfg):
    vec = layers.TextVectorization(output_sequence_length=cfg.max_len)
    vec.adapt(train_texts)
    return vec(train_texts).numpy(), vec(test_texts).numpy(), vec.vocabulary_size()


def build_model(vocab, cfg):
    model = keras.Sequential([
        keras.Input((cfg.max_len,), dtype="int64"),
        layers.Embedding(vocab, cfg.embed_dim),
        layers.Conv1D(cfg.filters, 2, activation="relu", padding="same"),
        layers.GlobalAveragePooling1D(),
        layers.Dense(16, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ])
    steps_per_epoch = math.ceil(cfg.n_train * 0.9 / cfg.batch_size)
    schedule = keras.optimizers.schedules.CosineDecay(cfg.lr, decay_steps=cfg.epochs)
    model.compile(keras.optimizers.Adam(schedule), loss="binary_crossentropy", metrics=["accuracy"])
    print("steps per epoch:", steps_per_epoch)
    return model


def run(cfg):
    keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    texts, y = make_corpus(cfg.n_train, rng)
    test_texts, y_test = make_corpus(cfg.n_test, rng)
    x, x_test, vocab = vectorize(texts, test_texts, cfg)
    model = build_model(vocab, cfg)
    model.fit(x, y, epochs=cfg.epochs, batch_size=cfg.batch_size,
              validation_split=0.1, verbose=2)
    loss, acc = model.evaluate(x_test, y_test, verbose=0)
    print(f"test loss {loss:.4f} accuracy {acc:.4f}")


if __name__ == "__main__":
    run(Config())
