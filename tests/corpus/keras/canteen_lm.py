"""Small GPT-2 trained from scratch on canteen order slips; it should finish a slip from its first words."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import GPT2Config, TFGPT2LMHeadModel

DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday"]
MAINS = {"soup": "bowl", "curry": "plate", "pasta": "plate", "toast": "board", "stew": "bowl"}
SIZES = ["small", "large"]
SIDES = {"monday": "bread", "tuesday": "rice", "wednesday": "salad", "thursday": "beans", "friday": "chips"}
PRICE = {"small": "four", "large": "six"}
WORDS = (["<pad>", "<bos>", "<eos>", "on", "one", "served", "in", "a", "with", "and", "costs", "euro"]
         + DAYS + list(MAINS) + SIZES + ["bowl", "plate", "board"] + list(SIDES.values()) + list(PRICE.values()))
STOI = {w: i for i, w in enumerate(WORDS)}
PAD, BOS, EOS = 0, 1, 2


def slip(day, size, main):
    return (f"on {day} one {size} {main} served in a {MAINS[main]} "
            f"with {SIDES[day]} and costs {PRICE[size]} euro").split()


def encode(words):
    return [BOS] + [STOI[w] for w in words] + [EOS]


COMBOS = [(d, s, m) for d in DAYS for s in SIZES for m in MAINS]


def make_sets(rng):
    order = rng.permutation(len(COMBOS))
    held = [COMBOS[i] for i in order[:12]]
    seen = [COMBOS[i] for i in order[12:]]
    return seen, held


def collate(combos):
    ids = np.array([encode(slip(*c)) for c in combos], "int32")
    return {"input_ids": tf.constant(ids[:, :-1]),
            "attention_mask": tf.ones_like(ids[:, :-1]),
            "labels": tf.constant(ids[:, 1:])}


def main():
    tf_keras.utils.set_random_seed(13)
    rng = np.random.default_rng(13)
    seen, held = make_sets(rng)
    config = GPT2Config(
        vocab_size=len(WORDS), n_positions=32, n_embd=48, n_layer=2, n_head=4,
        resid_pdrop=0.05, embd_pdrop=0.05, attn_pdrop=0.05,
        bos_token_id=BOS, eos_token_id=EOS, pad_token_id=PAD,
    )
    model = TFGPT2LMHeadModel(config)
    model(collate(seen[:2]))
    steps, batch = 400, 32
    schedule = tf_keras.optimizers.schedules.CosineDecay(3e-3, steps)
    optimizer = tf_keras.optimizers.Adam(schedule, clipnorm=1.0)

    @tf.function
    def train_step(data):
        with tf.GradientTape() as tape:
            out = model(data, training=True)
            loss = tf.reduce_mean(out.loss)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    for step in range(1, steps + 1):
        picks = [seen[i] for i in rng.integers(0, len(seen), batch)]
        loss = train_step(collate(picks))
        if step % 80 == 0:
            val = tf.reduce_mean(model(collate(held), training=False).loss)
            print(f"step {step:4d}  loss {float(loss):.4f}  held-out loss {float(val):.4f}")

    full = np.array([encode(slip(*c)) for c in held])
    prefix = 6                                   # <bos> on DAY one SIZE MAIN
    context = tf.constant(full[:, :prefix], tf.int32)
    while context.shape[1] < full.shape[1]:
        logits = model({"input_ids": context}, training=False).logits[:, -1]
        context = tf.concat([context, tf.argmax(logits, -1, output_type=tf.int32)[:, None]], 1)
    written = context.numpy()
    for row in written[:3]:
        print("   ", " ".join(WORDS[i] for i in row[1:]))
    words_ok = (written[:, prefix:] == full[:, prefix:]).mean()
    slips_ok = (written == full).all(1).mean()
    print(f"unseen orders: words right {words_ok:.3f}, whole slips right {slips_ok:.3f} "
          f"(always the commonest word: {(full[:, prefix:] == STOI['a']).mean():.3f})")
    model.save_weights("out/canteen_lm.h5")


if __name__ == "__main__":
    os.makedirs("out", exist_ok=True)
    main()
