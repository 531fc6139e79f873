import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification, create_optimizer


@dataclass
class Settings:
    n_train: int = 1600
    n_test: int = 400
    length: int = 12
    symbols: int = 20
    batch_size: int = 32
    epochs: int = 5
    peak_lr: float = 1e-3
    seed: int = 8


CLS, FIRST = 1, 2


def make_sequences(cfg, n, rng):
    """Protocol logs: which of the commands OPEN, LOCK, MOVE occurs in the log."""
    x = rng.integers(FIRST + 3, FIRST + cfg.symbols, size=(n, cfg.length))
    y = rng.integers(0, 3, size=n)
    where = rng.integers(0, cfg.length, size=n)
    x[np.arange(n), where] = FIRST + y
    x = np.concatenate([np.full((n, 1), CLS), x], axis=1)
    return x.astype("int32"), y.astype("int32")


def to_dataset(x, y, cfg, shuffle):
    ds = tf.data.Dataset.from_tensor_slices(({"input_ids": x, "attention_mask": np.ones_like(x)}, y))
    if shuffle:
        ds = ds.shuffle(len(x), seed=cfg.seed)
    return ds.batch(cfg.batch_size)


def make_model(cfg):
    config = DistilBertConfig(
        vocab_size=FIRST + cfg.symbols, dim=48, n_layers=2, n_heads=4, hidden_dim=96,
        max_position_embeddings=cfg.length + 1, num_labels=3, dropout=0.05, attention_dropout=0.05,
        seq_classif_dropout=0.05,
    )
    return TFDistilBertForSequenceClassification(config)


def main():
    cfg = Settings()
    tf.keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    x_train, y_train = make_sequences(cfg, cfg.n_train, rng)
    x_test, y_test = make_sequences(cfg, cfg.n_test, rng)
    train = to_dataset(x_train, y_train, cfg, shuffle=True)
    test = to_dataset(x_test, y_test, cfg, shuffle=False)

    total_steps = cfg.epochs * len(train)
    optimizer, schedule = create_optimizer(
        init_lr=cfg.peak_lr,
        num_train_steps=total_steps,
        num_warmup_steps=0,
        weight_decay_rate=0.01,
    )
    model = make_model(cfg)
    model.compile(optimizer=optimizer, metrics=["accuracy"])
    history = model.fit(train, validation_data=test, epochs=cfg.epochs, verbose=2)

    logits = model.predict(test, verbose=0).logits
    accuracy = np.mean(logits.argmax(-1) == y_test)
    print("loss per epoch", [round(v, 4) for v in history.history["loss"]])
    print(f"test accuracy {accuracy:.4f}, largest class {np.bincount(y_test).max() / len(y_test):.4f}")


if __name__ == "__main__":
    main()
