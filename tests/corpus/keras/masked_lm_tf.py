import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from transformers import BertConfig, TFBertForMaskedLM

PAD, CLS, SEP, MASK = 0, 1, 2, 3
SUBJECTS = ["cook", "pilot", "tailor", "farmer", "singer", "miner"]
VERBS = ["stirs", "flies", "sews", "ploughs", "hums", "digs"]
OBJECTS = ["soup", "plane", "coat", "field", "tune", "coal"]
EXTRA = ["the", "a", "slowly", "today", "again", "and", "while"]
VOCAB = {w: i + 4 for i, w in enumerate(SUBJECTS + VERBS + OBJECTS + EXTRA)}
MAX_LEN = 20


def sentence(rng):
    parts = []
    for clause in range(rng.integers(1, 3)):
        k = rng.integers(0, len(SUBJECTS))
        parts += ["and" if clause else "the", SUBJECTS[k], VERBS[k], rng.choice(["the", "a"]),
                  OBJECTS[k], rng.choice(["slowly", "today", "again"])]
    return [CLS] + [VOCAB[w] for w in parts] + [SEP]


def mask_batch(ids, rng, share=0.15):
    labels = np.full_like(ids, -100)
    chosen = (rng.random(ids.shape) < share) & (ids > MASK)
    labels[chosen] = ids[chosen]
    corrupted = ids.copy()
    dice = rng.random(ids.shape)
    corrupted[chosen & (dice < 0.8)] = MASK
    swap = chosen & (dice > 0.9)
    corrupted[swap] = rng.integers(4, len(VOCAB) + 4, swap.sum())
    return corrupted, labels


def padded(n, rng):
    ids = np.full((n, MAX_LEN), PAD, "int32")
    for row in range(n):
        s = sentence(rng)
        ids[row, : len(s)] = s
    return ids


def batches(ids, batch_size, seed, epochs):
    rng = np.random.default_rng(seed)
    for _ in range(epochs):
        for start in range(0, len(ids), batch_size):
            chunk = ids[start:start + batch_size]
            corrupted, labels = mask_batch(chunk, rng)
            yield {"input_ids": corrupted, "attention_mask": (chunk != PAD).astype("int32"),
                   "labels": labels}


def masked_accuracy(model, ids, seed):
    hits = []
    for batch in batches(ids, 64, seed, 1):
        logits = model(batch["input_ids"], attention_mask=batch["attention_mask"]).logits.numpy()
        at = batch["labels"] != -100
        hits.append(logits.argmax(-1)[at] == batch["labels"][at])
    return float(np.concatenate(hits).mean())


def main():
    tf.keras.utils.set_random_seed(50)
    rng = np.random.default_rng(50)
    train, test = padded(1000, rng), padded(200, rng)
    model = TFBertForMaskedLM(BertConfig(
        vocab_size=len(VOCAB) + 4, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=128, max_position_embeddings=MAX_LEN))
    epochs, size = 10, 50
    spec = {k: tf.TensorSpec((None, MAX_LEN), tf.int32)
            for k in ("input_ids", "attention_mask", "labels")}
    ds = tf.data.Dataset.from_generator(lambda: batches(train, size, 7, epochs),
                                        output_signature=spec)
    model.compile(optimizer=tf.keras.optimizers.Adam(2e-3))
    model.fit(ds, steps_per_epoch=len(train) // size, epochs=epochs, verbose=2)
    print("masked token accuracy", round(masked_accuracy(model, test, 99), 4),
          "uniform guess", round(1 / len(VOCAB), 4))


if __name__ == "__main__":
    main()
