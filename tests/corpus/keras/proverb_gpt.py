"""A tiny GPT-2 on made-up proverbs; own training loop with warm-up and decay."""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import math
import random

import numpy as np
import tensorflow as tf
from transformers import GPT2Config, TFGPT2LMHeadModel

random.seed(12)
tf.keras.utils.set_random_seed(12)

ANIMALS = {"fox": "den", "bird": "nest", "bee": "hive", "bear": "cave", "mole": "hole", "dog": "kennel"}
WHEN = {"spring": "sows", "summer": "toils", "autumn": "reaps", "winter": "rests"}


def proverb():
    a, w = random.choice(list(ANIMALS)), random.choice(list(WHEN))
    if random.random() < 0.5:
        return f"in {w} the wise {a} {WHEN[w]} and keeps to the {ANIMALS[a]}".split()
    b = random.choice(list(ANIMALS))
    return f"a {a} in the {ANIMALS[b]} makes the {b} angry all {w}".split()


lines = [proverb() for _ in range(2400)]
words = sorted({w for line in lines for w in line})
PAD, EOS = 0, 1
stoi = {w: i + 2 for i, w in enumerate(words)}
LENGTH = max(map(len, lines)) + 1

ids = np.full((len(lines), LENGTH), PAD, "int32")
for i, line in enumerate(lines):
    row = [stoi[w] for w in line] + [EOS]
    ids[i, : len(row)] = row
mask = (ids != PAD).astype("int32")
labels = np.where(ids == PAD, -100, ids)

cut = 2200
ds = tf.data.Dataset.from_tensor_slices((ids[:cut], mask[:cut], labels[:cut])).shuffle(cut).batch(40)
model = TFGPT2LMHeadModel(
    GPT2Config(
        vocab_size=len(words) + 2, n_embd=64, n_layer=2, n_head=4, n_positions=LENGTH,
        bos_token_id=EOS, eos_token_id=EOS,
    )
)
EPOCHS = 6
total = EPOCHS * len(ds)


class WarmCosine(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warm, total):
        self.peak, self.warm, self.total = peak, warm, total

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        part = tf.clip_by_value((step - self.warm) / (self.total - self.warm), 0.0, 1.0)
        return self.peak * tf.minimum(step / self.warm, 0.5 * (1 + tf.cos(math.pi * part)))


opt = tf.keras.optimizers.Adam(WarmCosine(3e-3, 30.0, float(total)), global_clipnorm=1.0)


@tf.function
def step(x, m, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(input_ids=x, attention_mask=m, labels=y, training=True).loss)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(EPOCHS):
    losses = [float(step(*batch)) for batch in ds]
    out = model(input_ids=ids[cut:], attention_mask=mask[cut:], labels=labels[cut:])
    print(f"epoch {epoch + 1} train {np.mean(losses):.3f} held-out {float(tf.reduce_mean(out.loss)):.3f}")

right = total_seen = 0
itos = {i: w for w, i in stoi.items()}
for a, home in ANIMALS.items():
    for w, verb in WHEN.items():
        prompt = f"in {w} the wise {a}".split()
        seq = [stoi[p] for p in prompt]
        for _ in range(6):
            seq.append(int(np.argmax(model(input_ids=np.array([seq], "int32")).logits[0, -1])))
        said = [itos.get(i, "") for i in seq[5:]]
        right += said == f"{verb} and keeps to the {home}".split()
        total_seen += 1
print(f"completed properly: {right}/{total_seen}")
