"""Tiny GPT-2 trained from scratch on till transcripts of a cafe, then used to write orders."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import GPT2Config, TFGPT2LMHeadModel

tf_keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)

DRINKS = {"latte": 4, "tea": 2, "mocha": 5, "espresso": 3}
SIZES = {"small": 0, "medium": 1, "large": 2}
EXTRAS = {"plain": 0, "oat": 1, "syrup": 0, "cream": 1}
WHO = ["ana", "ben", "cleo", "dov", "eli", "fay"]
WORDS = (["<pad>", "<bos>", "<eos>", "orders", "a", "with", "pays"]
         + list(DRINKS) + list(SIZES) + list(EXTRAS) + WHO + [str(i) for i in range(2, 10)])
STOI = {w: i for i, w in enumerate(WORDS)}
LENGTH = 12


def order():
    who = rng.choice(WHO)
    size, drink, extra = rng.choice(list(SIZES)), rng.choice(list(DRINKS)), rng.choice(list(EXTRAS))
    price = DRINKS[drink] + SIZES[size] + EXTRAS[extra]
    return ["<bos>", who, "orders", "a", size, drink, "with", extra, "pays", str(price), "<eos>"]


def encode(sents):
    ids = np.zeros((len(sents), LENGTH), dtype="int32")
    for row, s in zip(ids, sents):
        row[:len(s)] = [STOI[w] for w in s]
    return ids


def to_dataset(ids, batch, shuffle):
    mask = (ids != 0).astype("int32")
    labels = np.where(mask == 1, ids, -100)
    labels = np.concatenate([labels[:, 1:], np.full((len(ids), 1), -100)], axis=1)
    ds = tf.data.Dataset.from_tensor_slices(
        {"input_ids": ids, "attention_mask": mask, "labels": labels})
    if shuffle:
        ds = ds.shuffle(len(ids), seed=4)
    return ds.batch(batch)


def generate(model, prompts, steps):
    ids = np.array([[STOI[w] for w in p] for p in prompts])
    for _ in range(steps):
        logits = model(input_ids=tf.constant(ids), training=False).logits[:, -1]
        nxt = np.argmax(logits.numpy(), -1)
        ids = np.concatenate([ids, nxt[:, None]], 1)
    return [[WORDS[i] for i in row] for row in ids]


def check(sentence):
    try:
        _, who, v, a, size, drink, w, extra, p, price, end = sentence
        return (v, a, w, p, end) == ("orders", "a", "with", "pays", "<eos>") and \
            int(price) == DRINKS[drink] + SIZES[size] + EXTRAS[extra]
    except (KeyError, ValueError):
        return False


train_ids = encode([order() for _ in range(2000)])
valid_ids = encode([order() for _ in range(300)])

config = GPT2Config(vocab_size=len(WORDS), n_positions=LENGTH, n_embd=48, n_layer=2, n_head=4,
                    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                    bos_token_id=STOI["<bos>"], eos_token_id=STOI["<eos>"])
model = TFGPT2LMHeadModel(config)
model.compile(optimizer=tf_keras.optimizers.Adam(2e-3))
hist = model.fit(to_dataset(train_ids, 48, True), validation_data=to_dataset(valid_ids, 100, False),
                 epochs=10, verbose=0)
for e in range(1, 10, 2):
    print(f"epoch {e + 1}: loss {hist.history['loss'][e]:.3f} val {hist.history['val_loss'][e]:.3f}")

# complete unseen orders from the size onwards
test = [order() for _ in range(200)]
written = generate(model, [s[:5] for s in test], 6)
good = np.mean([check(s) for s in written])
print("sample:", " ".join(written[0]))
print(f"well-formed and correctly priced: {good:.3f}")

logits = model(input_ids=tf.constant(valid_ids), training=False).logits.numpy()
nxt = valid_ids[:, 1:]
hit = (logits[:, :-1].argmax(-1) == nxt)[nxt != 0]
freq = np.bincount(train_ids[train_ids > 2]).max() / (train_ids > 2).sum()
print(f"next-word accuracy: {hit.mean():.3f}   most frequent word: {freq:.3f}")
