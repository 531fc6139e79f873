import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import math
import random
import numpy as np
import tensorflow as tf
from transformers import GPT2Config, TFGPT2LMHeadModel

random.seed(8)
tf.keras.utils.set_random_seed(8)

VERBS = ["chop", "boil", "fry", "mix", "peel", "bake"]
FOODS = {"chop": ["onions", "carrots"], "boil": ["eggs", "rice"], "fry": ["bacon", "fish"],
         "mix": ["flour", "butter"], "peel": ["apples", "potatoes"], "bake": ["bread", "cookies"]}
TIMES = ["for two minutes", "for one hour", "until soft"]


def recipe():
    steps = []
    for _ in range(random.randint(1, 3)):
        v = random.choice(VERBS)
        steps.append(f"{v} the {random.choice(FOODS[v])} {random.choice(TIMES)}")
    return " then ".join(steps)


texts = [recipe() for _ in range(900)]
words = sorted({w for t in texts for w in t.split()})
stoi = {"<eos>": 0, **{w: i + 1 for i, w in enumerate(words)}}
itos = {i: w for w, i in stoi.items()}
LEN = 24


def pack(batch_texts):
    ids = np.full((len(batch_texts), LEN), stoi["<eos>"], "int32")
    mask = np.zeros_like(ids)
    for r, t in enumerate(batch_texts):
        row = [stoi[w] for w in t.split()] + [stoi["<eos>"]]
        ids[r, :len(row)] = row
        mask[r, :len(row)] = 1
    labels = np.where(mask == 1, ids, -100)
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


train, held_out = pack(texts[:800]), pack(texts[800:])
STEPS, EPOCHS = 25, 4
train_ds = tf.data.Dataset.from_tensor_slices(train).shuffle(800).repeat().batch(32)
valid_ds = tf.data.Dataset.from_tensor_slices(held_out).batch(50)

model = TFGPT2LMHeadModel(GPT2Config(
    vocab_size=len(stoi), n_positions=32, n_embd=48, n_layer=1, n_head=4,
    bos_token_id=0, eos_token_id=0))
model.compile(optimizer=tf.keras.optimizers.Adam(3e-3, clipnorm=1.0))
hist = model.fit(train_ds, steps_per_epoch=STEPS, epochs=EPOCHS, validation_data=valid_ds, verbose=2)

print("held-out perplexity: %.2f (vocabulary %d)" % (math.exp(hist.history["val_loss"][-1]), len(stoi)))
seq = [stoi["peel"], stoi["the"]]
while len(seq) < 12 and seq[-1] != 0:
    logits = model(tf.constant([seq]), training=False).logits
    seq.append(int(tf.argmax(logits[0, -1])))
print(" ".join(itos[i] for i in seq))
