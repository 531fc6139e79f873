"""Character-level GPT-2 trained from scratch on short recipe steps (TF + transformers)."""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import GPT2Config, TFGPT2LMHeadModel

SEED = 13
BLOCK = 48
BATCH = 32
EPOCHS = 4


# ---------------------------------------------------------------- corpus
def recipe_corpus(n_steps, seed):
    rng = np.random.default_rng(seed)
    foods = ["onions", "carrots", "mushrooms", "potatoes", "tomatoes", "leeks", "peppers"]
    fats = ["butter", "olive oil", "ghee"]
    tools = ["large pan", "small pot", "wide skillet", "deep tray"]
    spice = ["salt", "cumin", "paprika", "thyme", "pepper"]
    out = []
    for _ in range(n_steps):
        f, g = rng.choice(foods, 2, replace=False)
        t, s, o = rng.choice(tools), rng.choice(spice), rng.choice(fats)
        k = rng.integers(2, 13)
        out.append(str(rng.choice([
            f"chop the {f} and the {g} finely. ",
            f"heat the {o} in a {t}. ",
            f"fry the {f} in {o} for {k} minutes. ",
            f"season with {s} and stir. ",
            f"add the {g} to the {t} and cook for {k} minutes. ",
            f"serve the {f} with {g} and more {s}. ",
        ])))
    return "".join(out)


text = recipe_corpus(2600, SEED)
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
ids = np.array([stoi[c] for c in text], dtype="int32")
cut = int(0.9 * len(ids))
print(f"{len(text)} characters, vocabulary of {len(chars)}")


# ---------------------------------------------------------------- data pipeline
def windows(stream, stride):
    starts = np.arange(0, len(stream) - BLOCK - 1, stride)
    return np.stack([stream[s:s + BLOCK + 1] for s in starts])


def to_example(chunk):
    return {
        "input_ids": chunk[:, :-1],
        "attention_mask": tf.ones_like(chunk[:, :-1]),
        "labels": chunk[:, :-1],
    }


def make_dataset(stream, stride, shuffle):
    ds = tf.data.Dataset.from_tensor_slices(windows(stream, stride))
    if shuffle:
        ds = ds.shuffle(10_000, seed=SEED)
    return ds.batch(BATCH, drop_remainder=shuffle).map(to_example).prefetch(2)


train_ds = make_dataset(ids[:cut], BLOCK, shuffle=True)
valid_ds = make_dataset(ids[cut:], BLOCK, shuffle=False)

# ---------------------------------------------------------------- model
tf_keras.utils.set_random_seed(SEED)
config = GPT2Config(
    vocab_size=len(chars), n_positions=BLOCK + 1, n_embd=64, n_layer=2, n_head=4,
    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    bos_token_id=0, eos_token_id=0,
)
model = TFGPT2LMHeadModel(config)
model.compile(optimizer=tf_keras.optimizers.Adam(3e-3, clipnorm=1.0))
model.fit(train_ds, validation_data=valid_ds, epochs=EPOCHS, verbose=2)


# ---------------------------------------------------------------- evaluation
def next_char_scores(stream, batch=128):
    hits = count = 0
    nll = 0.0
    chunks = windows(stream, BLOCK)
    for i in range(0, len(chunks), batch):
        c = chunks[i:i + batch]
        logits = model(c[:, :-1], training=False).logits
        target = c[:, 1:]
        hits += int((logits.numpy().argmax(-1) == target).sum())
        nll += float(tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(target, logits)))
        count += target.size
    return hits / count, np.exp(nll / count)


def complete(prompt, n=25):
    seq = [stoi[c] for c in prompt]
    for _ in range(n):
        ctx = np.array([seq[-BLOCK:]], dtype="int32")
        seq.append(int(model(ctx, training=False).logits[0, -1].numpy().argmax()))
    return "".join(chars[i] for i in seq)


acc, ppl = next_char_scores(ids[cut:])
freq = np.bincount(ids[:cut], minlength=len(chars)).max() / cut
print(f"held-out next character: accuracy {acc:.3f}, perplexity {ppl:.2f} "
      f"(most frequent character: {freq:.3f})")
print("sample:", repr(complete("chop the onions and ")))
