import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from transformers import GPT2Config, TFGPT2LMHeadModel

tf.keras.utils.set_random_seed(6)
rng = np.random.default_rng(6)

FIGURES = ["set", "turn", "cast", "lead", "swing", "circle", "chain", "reel", "cross", "promenade",
           "star", "balance", "arch", "gallop", "clap", "bow", "weave", "spin", "advance", "retire"]
follow = {style: rng.permutation(len(FIGURES)) for style in range(3)}
STYLES = ["<jig>", "<strathspey>", "<polka>"]
vocab = STYLES + FIGURES


def dance(length=24):
    style = rng.integers(3)
    step = rng.integers(len(FIGURES))
    out = [style]
    for _ in range(length):
        out.append(3 + step)
        step = follow[style][step] if rng.random() < 0.93 else rng.integers(len(FIGURES))
    return out


seqs = np.array([dance() for _ in range(1300)], "int32")
seqs, held_out = seqs[:1100], seqs[1100:]

config = GPT2Config(vocab_size=len(vocab), n_positions=32, n_embd=64, n_layer=2, n_head=4,
                    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                    bos_token_id=0, eos_token_id=0)
model = TFGPT2LMHeadModel(config)

train = tf.data.Dataset.from_tensor_slices(({"input_ids": seqs[:, :-1]}, seqs[:, 1:]))
train = train.shuffle(len(seqs), seed=6).batch(32, drop_remainder=True)

model.compile(optimizer=tf.keras.optimizers.Adam(2e-3))
model.fit(train, epochs=8, verbose=2)

logits = model.predict({"input_ids": held_out[:, :-1]}, batch_size=64, verbose=0).logits
guess = logits[:, 4:].argmax(-1)
print("next figure right: %.3f" % (guess == held_out[:, 5:]).mean())

prompt = tf.constant([[2, 3 + FIGURES.index("swing")]])
for _ in range(10):
    step = tf.argmax(model(prompt).logits[:, -1], axis=-1, output_type=tf.int32)
    prompt = tf.concat([prompt, step[:, None]], axis=1)
print(" ".join(vocab[i] for i in prompt.numpy()[0]))
expected = [FIGURES.index("swing")]
for _ in range(10):
    expected.append(follow[2][expected[-1]])
print(vocab[2], " ".join(FIGURES[i] for i in expected))
