import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from transformers import GPT2Config, TFGPT2LMHeadModel

tf.keras.utils.set_random_seed(13)
rng = np.random.default_rng(13)

ACTIONS = ("fill heat cool stir drain rinse weigh vent seal mix filter pump "
           "hold purge sample dose settle press dry pack").split()
RECIPES = [f"recipe{i}" for i in range(12)]
BATCHES = ["lot_a", "lot_b", "lot_c"]
VOCAB = ["<pad>", "<end>"] + RECIPES + BATCHES + ACTIONS
IDS = {w: i for i, w in enumerate(VOCAB)}
PLAN = {r: list(rng.permutation(ACTIONS)[: rng.integers(7, 11)]) for r in RECIPES}
MAXLEN = 14


def log_line():
    r = rng.choice(RECIPES)
    steps = list(PLAN[r])
    return [rng.choice(BATCHES), r] + steps + ["<end>"]


def encode(lines):
    ids = np.zeros((len(lines), MAXLEN), "int32")
    mask = np.zeros_like(ids)
    for i, words in enumerate(lines):
        ids[i, : len(words)] = [IDS[w] for w in words]
        mask[i, : len(words)] = 1
    return ids, mask


def to_features(ids, mask):
    labels = np.where(mask == 1, ids, -100)
    labels = np.concatenate([labels[:, 1:], np.full((len(ids), 1), -100)], axis=1)
    return {"input_ids": ids, "attention_mask": mask, "labels": labels.astype("int32")}


def complete(model, prompt, limit=12):
    ids = [IDS[w] for w in prompt]
    for _ in range(limit):
        logits = model(tf.constant([ids]), training=False).logits[0, -1]
        nxt = int(tf.argmax(logits))
        if nxt == IDS["<end>"]:
            break
        ids.append(nxt)
    return [VOCAB[i] for i in ids]


features = to_features(*encode([log_line() for _ in range(1600)]))
train_ds = tf.data.Dataset.from_tensor_slices(features).shuffle(1600, seed=1).batch(32)

config = GPT2Config(vocab_size=len(VOCAB), n_positions=32, n_embd=64, n_layer=2, n_head=4,
                    bos_token_id=1, eos_token_id=1, pad_token_id=0)
model = TFGPT2LMHeadModel(config)
model.compile(optimizer=tf.keras.optimizers.Adam(2e-3))
model.fit(train_ds, epochs=8, verbose=2)

right = 0
for r in RECIPES:
    got = complete(model, ["lot_b", r])[2:]
    right += got == PLAN[r]
    print(r, "->", " ".join(got))
print(f"recipes completed exactly: {right}/{len(RECIPES)}")
