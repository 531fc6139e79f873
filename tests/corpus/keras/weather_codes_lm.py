"""A tiny GPT-2 over coded weather reports, four small batches to an optimizer step."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import GPT2Config, TFGPT2LMHeadModel

tf_keras.utils.set_random_seed(17)
rng = np.random.default_rng(17)

STATES, LENGTH, ACCUM, MICRO = 20, 24, 4, 16
follow = np.stack([rng.permutation(STATES)[:3] for _ in range(STATES)])


def reports(n):
    seq = np.zeros((n, LENGTH), "int32")
    seq[:, 0] = rng.integers(STATES, size=n)
    for t in range(1, LENGTH):
        pick = rng.choice(3, size=n, p=[0.8, 0.15, 0.05])
        seq[:, t] = follow[seq[:, t - 1], pick]
    return seq


train, test = reports(3200), reports(256)
cfg = GPT2Config(vocab_size=STATES, n_positions=LENGTH, n_embd=48, n_layer=1, n_head=4,
                 resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=0)
model = TFGPT2LMHeadModel(cfg)
model(train[:2])
params = model.trainable_variables
opt = tf_keras.optimizers.Adam(3e-3)
store = [tf.Variable(tf.zeros_like(p), trainable=False) for p in params]


def nll(ids):
    logits = model(ids).logits
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ids[:, 1:], logits=logits[:, :-1]))


@tf.function
def accumulate(ids):
    with tf.GradientTape() as tape:
        loss = nll(ids)
        part = loss / ACCUM
    for s, g in zip(store, tape.gradient(part, params)):
        s.assign_add(tf.convert_to_tensor(g))
    return loss


@tf.function
def flush():
    opt.apply_gradients(zip([s.read_value() for s in store], params))
    for s in store:
        s.assign(tf.zeros_like(s))


entropy = -sum(p * np.log(p) for p in (0.8, 0.15, 0.05))
for epoch in range(6):
    order = rng.permutation(len(train))
    losses = []
    for k, i in enumerate(range(0, len(order), MICRO)):
        losses.append(float(accumulate(train[order[i:i + MICRO]])))
        if (k + 1) % ACCUM == 0:
            flush()
    print(f"epoch {epoch} train {np.mean(losses):.3f} test {float(nll(test)):.3f} (best possible {entropy:.3f})")
