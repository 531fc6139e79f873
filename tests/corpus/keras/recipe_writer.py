import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import GPT2Config, TFGPT2LMHeadModel

tf_keras.utils.set_random_seed(15)
DIGITS = "0123456789"
CHARS = ["<pad>", ">", "."] + list(DIGITS) 
ID = {c: i for i, c in enumerate(CHARS)}
LENGTH = 20


def order(rng):
    """ingredient codes as ordered, the kitchen sheet lists them sorted"""
    items = rng.integers(0, 10, rng.integers(3, 7))
    return "".join(map(str, items)) + ">" + "".join(str(d) for d in sorted(items)) + "."


def encode(texts):
    ids = np.zeros((len(texts), LENGTH), "int32")
    mask = np.zeros_like(ids)
    labels = np.full_like(ids, -100)
    for i, t in enumerate(texts):
        row = [ID[c] for c in t]
        ids[i, :len(row)] = row
        mask[i, :len(row)] = 1
        cut = t.index(">") + 1
        labels[i, cut:len(row)] = row[cut:]
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def complete(model, prompts):
    done = []
    by_len = {}
    for p in prompts:
        by_len.setdefault(len(p), []).append(p)
    for _, group in sorted(by_len.items()):
        ids = tf.constant([[ID[c] for c in p] for p in group])
        out = model.generate(ids, attention_mask=tf.ones_like(ids), max_new_tokens=8, do_sample=False,
                             pad_token_id=0, eos_token_id=ID["."]).numpy()
        done += ["".join(CHARS[j] for j in row if j) for row in out]
    return done


rng = np.random.default_rng(15)
train_texts = [order(rng) for _ in range(5000)]
test_texts = sorted(set(order(rng) for _ in range(60)) - set(train_texts))
config = GPT2Config(vocab_size=len(CHARS), n_positions=LENGTH, n_embd=64, n_layer=2, n_head=4,
                    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                    bos_token_id=None, eos_token_id=ID["."], pad_token_id=0)
model = TFGPT2LMHeadModel(config)
rate = tf_keras.optimizers.schedules.PolynomialDecay(3e-3, 4 * 79, 1e-5)
model.compile(optimizer=tf_keras.optimizers.Adam(rate, clipnorm=1.0))

train = tf.data.Dataset.from_tensor_slices(encode(train_texts)).shuffle(5000, seed=1).batch(64)
valid = tf.data.Dataset.from_tensor_slices(encode(test_texts)).batch(64)
model.fit(train, validation_data=valid, epochs=4, verbose=2)

outputs = set(complete(model, [t[:t.index(">") + 1] for t in test_texts]))
exact = np.mean([t in outputs for t in test_texts])
print(f"unseen orders {len(test_texts)}, exact match of the whole sheet {exact:.3f}")
