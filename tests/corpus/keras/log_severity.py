from dataclasses import dataclass

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import ElectraConfig, TFElectraForSequenceClassification, create_optimizer


@dataclass
class TrainCfg:
    n_lines: int = 1000
    length: int = 18
    batch_size: int = 32
    epochs: int = 6
    peak_lr: float = 1e-3
    seed: int = 17


LEVELS = ["info", "warning", "error", "fatal"]
HINTS = {
    0: ["started", "finished", "loaded", "listening"],
    1: ["retrying", "deprecated", "slow", "throttled"],
    2: ["failed", "refused", "missing", "timeout"],
    3: ["panic", "segfault", "corrupt", "aborted"],
}
COMMON = [f"svc{i}" for i in range(25)] + ["node", "disk", "job", "request", "user", "port", "queue"]
WORDS = ["<pad>", "<cls>"] + COMMON + [w for ws in HINTS.values() for w in ws]
INDEX = {w: i for i, w in enumerate(WORDS)}


def make_line(level, rng):
    body = list(rng.choice(COMMON, rng.integers(7, 14))) + list(rng.choice(HINTS[level], 2))
    if level > 0 and rng.random() < 0.5:
        body.append(rng.choice(HINTS[level - 1]))
    rng.shuffle(body)
    return body


def tensorise(lines, length):
    ids = np.zeros((len(lines), length), "int32")
    for r, words in enumerate(lines):
        row = [INDEX["<cls>"]] + [INDEX[w] for w in words]
        ids[r, : len(row)] = row
    return {"input_ids": ids, "attention_mask": (ids > 0).astype("int32")}


def make_sets(cfg, rng):
    y = rng.integers(0, len(LEVELS), cfg.n_lines)
    x = tensorise([make_line(k, rng) for k in y], cfg.length)
    cut = int(0.75 * cfg.n_lines)
    part = lambda a, b: tf.data.Dataset.from_tensor_slices(
        ({k: v[a:b] for k, v in x.items()}, y[a:b]))
    train = part(0, cut).shuffle(cut, seed=cfg.seed).batch(cfg.batch_size)
    return train, part(cut, None).batch(128)


def make_model():
    return TFElectraForSequenceClassification(ElectraConfig(
        vocab_size=len(WORDS), embedding_size=64, hidden_size=64, num_hidden_layers=2,
        num_attention_heads=4, intermediate_size=128, max_position_embeddings=32,
        num_labels=len(LEVELS), initializer_range=0.05))


def main():
    cfg = TrainCfg()
    tf_keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    train, test = make_sets(cfg, rng)

    optimizer, _ = create_optimizer(
        init_lr=cfg.peak_lr,
        num_train_steps=cfg.epochs,
        num_warmup_steps=2,
        weight_decay_rate=0.01,
    )
    model = make_model()
    model.compile(
        optimizer=optimizer,
        loss=tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(train, validation_data=test, epochs=cfg.epochs, verbose=2)
    loss, acc = model.evaluate(test, verbose=0)
    print(f"test loss {loss:.3f} accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
