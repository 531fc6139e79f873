"""Flag machine logs whose state machine was violated, with a small RoBERTa."""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

from dataclasses import dataclass

import numpy as np
import tf_keras
from transformers import RobertaConfig, TFRobertaForSequenceClassification

EVENTS = "<s> <pad> </s> <unk> boot idle open read write seek close sync retry fault halt".split()
CODE = {e: i for i, e in enumerate(EVENTS)}
NORMAL = ["open", "read", "write", "seek", "close", "sync", "idle"]


@dataclass
class LogSettings:
    window: int = 64
    hidden: int = 32
    layers: int = 1
    heads: int = 2
    lr: float = 2e-3
    epochs: int = 6
    batch_size: int = 32


def simulate(rng, faulty):
    length = int(rng.integers(20, 75))
    events = ["boot"] + list(rng.choice(NORMAL, length))
    for pos in rng.choice(np.arange(1, 19), 2, replace=False):
        events[pos] = "retry"
    if faulty:
        events[int(rng.integers(1, 19))] = "fault"
    return events


def tokenise(events, window):
    body = events[: window - 2]
    ids = [CODE["<s>"]] + [CODE[e] for e in body] + [CODE["</s>"]]
    return ids + [CODE["<pad>"]] * (window - len(ids))


def build_set(n, seed, cfg):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n).astype("int32")
    ids = np.array([tokenise(simulate(rng, y), cfg.window) for y in labels], dtype="int32")
    features = {"input_ids": ids, "attention_mask": (ids != CODE["<pad>"]).astype("int32")}
    return features, labels


def build_model(cfg):
    config = RobertaConfig(
        vocab_size=len(EVENTS),
        hidden_size=cfg.hidden,
        num_hidden_layers=cfg.layers,
        num_attention_heads=cfg.heads,
        intermediate_size=2 * cfg.hidden,
        max_position_embeddings=cfg.window + CODE["<pad>"] + 1,
        pad_token_id=CODE["<pad>"],
        bos_token_id=CODE["<s>"],
        eos_token_id=CODE["</s>"],
        type_vocab_size=1,
        num_labels=2,
    )
    return TFRobertaForSequenceClassification(config)


def main():
    cfg = LogSettings()
    tf_keras.utils.set_random_seed(4)
    train_x, train_y = build_set(800, 0, cfg)
    test_x, test_y = build_set(300, 1, cfg)
    model = build_model(cfg)
    model.compile(
        optimizer=tf_keras.optimizers.Adam(cfg.lr),
        loss=tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    hist = model.fit(train_x, train_y, epochs=cfg.epochs, batch_size=cfg.batch_size, verbose=0).history
    for i in range(cfg.epochs):
        print(f"epoch {i}  loss {hist['loss'][i]:.4f}  accuracy {hist['accuracy'][i]:.3f}")
    loss, acc = model.evaluate(test_x, test_y, batch_size=64, verbose=0)
    majority = max(test_y.mean(), 1 - test_y.mean())
    print(f"test loss {loss:.4f}  accuracy {acc:.3f}  (majority {majority:.3f})")


if __name__ == "__main__":
    main()
