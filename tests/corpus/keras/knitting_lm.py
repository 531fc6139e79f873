"""Tiny TF GPT-2 that continues knitting patterns."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import random
import numpy as np
import tensorflow as tf
from transformers import GPT2Config, TFGPT2LMHeadModel

random.seed(90)
tf.random.set_seed(90)
VOCAB = ["<pad>", "<row>", "<end>", "k1", "k2", "p1", "p2", "yo", "k2tog", "ssk"]
IDX = {w: i for i, w in enumerate(VOCAB)}
MOTIFS = [["k1", "p1"], ["k2", "p2"], ["yo", "k2tog", "k1"], ["ssk", "yo", "k2"], ["k1", "yo", "ssk", "p1"]]
LENGTH = 32


def pattern():
    motif = random.choice(MOTIFS)
    out = ["<row>"]
    for _ in range(random.randint(3, 6)):
        out += motif
    out.append("<end>")
    ids = [IDX[w] for w in out][:LENGTH]
    return ids + [0] * (LENGTH - len(ids))


class WarmupThenDecay(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warm):
        self.peak, self.warm = peak, float(warm)

    def __call__(self, step):
        step = tf.cast(step, tf.float32) + 1.0
        return self.peak * tf.minimum(step / self.warm, tf.sqrt(self.warm / step))

    def get_config(self):
        return {"peak": self.peak, "warm": self.warm}


ids = np.array([pattern() for _ in range(1600)])
held = np.array([pattern() for _ in range(200)])
config = GPT2Config(vocab_size=len(VOCAB), n_positions=LENGTH, n_embd=48, n_layer=2, n_head=4, bos_token_id=1, eos_token_id=2,
                    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
model = TFGPT2LMHeadModel(config)
optimizer = tf.keras.optimizers.Adam(WarmupThenDecay(3e-3, 60))


@tf.function
def step(batch):
    mask = tf.cast(batch != 0, tf.int32)
    labels = tf.where(batch != 0, batch, -100)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(input_ids=batch, attention_mask=mask, labels=labels, training=True).loss)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for epoch in range(6):
    order = np.random.default_rng(epoch).permutation(len(ids))
    losses = [float(step(tf.constant(ids[order[i:i + 32]], tf.int32))) for i in range(0, len(ids), 32)]
    print(f"epoch {epoch + 1}  loss {np.mean(losses):.4f}")

logits = model(input_ids=tf.constant(held, tf.int32), attention_mask=tf.constant(held != 0, tf.int32)).logits.numpy()
guess, real = logits[:, 5:-1].argmax(-1), held[:, 6:]
inside = real > 2
print(f"next stitch right after the first few: {(guess == real)[inside].mean():.3f}")

row = [IDX["<row>"], IDX["yo"], IDX["k2tog"]]
while len(row) < LENGTH and row[-1] != IDX["<end>"]:
    row.append(int(model(input_ids=tf.constant([row])).logits[0, -1].numpy().argmax()))
print(" ".join(VOCAB[i] for i in row))
