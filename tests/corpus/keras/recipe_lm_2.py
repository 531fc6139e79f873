"""Tiny GPT-2 on synthetic recipe lines."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
from transformers import GPT2Config, TFGPT2LMHeadModel

tf.keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)

VERB = {"chop": ["onion", "carrot", "leek"], "boil": ["rice", "pasta", "egg"],
        "fry": ["bacon", "egg", "onion"], "bake": ["bread", "cake", "pie"], "whisk": ["cream", "egg", "butter"]}
HOW = {"chop": "finely", "boil": "gently", "fry": "quickly", "bake": "slowly", "whisk": "well"}
TIME = ["one", "two", "five", "ten", "twenty"]
words = sorted({w for k, v in VERB.items() for w in [k, *v]} | set(HOW.values()) | set(TIME)
               | {"the", "for", "minutes", "then", "stop"})
ids = {w: i for i, w in enumerate(words)}


def sentence():
    v = rng.choice(list(VERB))
    s = [v, "the", rng.choice(VERB[v]), HOW[v]]
    if rng.random() < 0.6:
        s += ["for", rng.choice(TIME), "minutes"]
    return s + ["then" if rng.random() < 0.7 else "stop"]


def stream(n):
    out = []
    while len(out) < n:
        out += sentence()
    return np.array([ids[w] for w in out[:n]], dtype="int32")


BLOCK = 24


def blocks(tokens):
    n = (len(tokens) - 1) // BLOCK
    x = np.stack([tokens[i * BLOCK:(i + 1) * BLOCK] for i in range(n)])
    y = np.stack([tokens[i * BLOCK + 1:(i + 1) * BLOCK + 1] for i in range(n)])
    return x, y


def to_ds(tokens, shuffle):
    x, y = blocks(tokens)
    ds = tf.data.Dataset.from_tensor_slices({"input_ids": x, "labels": y})
    return ds.shuffle(len(x)).batch(32) if shuffle else ds.batch(32)


train, held = to_ds(stream(30000), True), to_ds(stream(3000), False)

config = GPT2Config(vocab_size=len(words), n_positions=BLOCK, n_embd=48, n_layer=2, n_head=4,
                    bos_token_id=ids["stop"], eos_token_id=ids["stop"], resid_pdrop=0.0, attn_pdrop=0.0, embd_pdrop=0.0)
model = TFGPT2LMHeadModel(config)
model.compile(optimizer=tf.keras.optimizers.Adam(2e-3))
model.fit(train, validation_data=held, epochs=6, verbose=2)


def continue_text(prompt, n=12):
    seq = [ids[w] for w in prompt.split()]
    for _ in range(n):
        logits = model(input_ids=tf.constant([seq[-BLOCK:]]), training=False).logits[0, -1].numpy()
        p = np.exp(logits - logits.max())
        seq.append(int(rng.choice(len(words), p=p / p.sum())))
    return " ".join(words[i] for i in seq)


for p in ("chop the", "bake the", "fry the"):
    print(continue_text(p))

FOLLOW = {(v, "the") for v in VERB} | {("the", o) for v in VERB.values() for o in v} | {("for", t) for t in TIME}
seq = continue_text("boil the", 200).split()
ok = [(a, b) in FOLLOW for a, b in zip(seq, seq[1:]) if a in VERB or a in ("the", "for")]
print("legal continuations: %.2f" % np.mean(ok))
