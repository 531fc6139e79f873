import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFBertForSequenceClassification

ALPHABET = "ABCDEFGHIJKLMNOPRSTUVWXYZ0123456789"
CODE = {c: i for i, c in enumerate(ALPHABET)}
REGIONS = ["north", "south", "coast", "islands", "capital", "diplomatic"]
LETTERS = list(ALPHABET[:25])
DIGITS = list(ALPHABET[25:])


def plate(region, rng):
    letters = [str(c) for c in rng.choice(LETTERS, 7)]
    digits = [str(c) for c in rng.choice(DIGITS, 7)]
    pattern = ["LLDDDLL", "LDDDLLL", "DDDLLLL", "LLLDDDL", "DLLLLDD", "LDLDLDL"][region]
    text = [letters[i] if p == "L" else digits[i] for i, p in enumerate(pattern)]
    if rng.random() < 0.1:
        text[int(rng.integers(7))] = str(rng.choice(list(ALPHABET)))
    return "".join(text)


def registry(per_region, seed):
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for region in range(len(REGIONS)):
        for _ in range(per_region):
            texts.append(plate(region, rng))
            labels.append(region)
    ids = np.array([[CODE[c] for c in t] for t in texts], dtype="int32")
    return ids, np.array(labels, dtype="int64")


def main():
    tf_keras.utils.set_random_seed(44)
    ids, labels = registry(300, 1)
    ids_test, labels_test = registry(80, 2)

    config = BertConfig(
        vocab_size=len(CODE), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, max_position_embeddings=7, type_vocab_size=1, num_labels=len(REGIONS),
        pad_token_id=None, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )
    model = TFBertForSequenceClassification(config)
    model.compile(
        optimizer=tf_keras.optimizers.AdamW(2e-3, weight_decay=0.05, clipnorm=1.0),
        loss=tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    train = (
        tf.data.Dataset.from_tensor_slices(({"input_ids": ids}, labels))
        .shuffle(len(labels), seed=7)
        .batch(60, drop_remainder=True)
    )
    held = tf.data.Dataset.from_tensor_slices(({"input_ids": ids_test}, labels_test)).batch(80)
    model.fit(train, validation_data=held, epochs=8, verbose=2,
              callbacks=[tf_keras.callbacks.LearningRateScheduler(lambda e, lr: 2e-3 * 0.75 ** e)])

    pred = model.predict(held, verbose=0).logits.argmax(-1)
    for k, name in enumerate(REGIONS):
        print(f"{name:11s} recall {np.mean(pred[labels_test == k] == k):.3f}")
    print(f"accuracy {np.mean(pred == labels_test):.3f}  chance {1 / len(REGIONS):.3f}")


if __name__ == "__main__":
    main()
