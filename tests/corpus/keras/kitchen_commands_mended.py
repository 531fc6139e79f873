"""Small GPT-2 over a synthetic grammar of kitchen-robot commands (TF, tf_keras).

python kitchen_commands.py --epochs 10
"""
import argparse
import os
import random

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import GPT2Config, TFGPT2LMHeadModel

PLACES = {"pan": ["eggs", "onions", "bacon"], "pot": ["rice", "beans", "soup"],
          "oven": ["bread", "pie", "fish"], "bowl": ["salad", "fruit", "batter"]}
VERB = {"pan": "fry", "pot": "boil", "oven": "bake", "bowl": "mix"}
UNIT = {"fry": "minutes", "boil": "minutes", "bake": "degrees", "mix": "strokes"}
NUMS = ["five", "ten", "twenty", "fifty"]


def command(rnd):
    vessel = rnd.choice(list(PLACES))
    food = rnd.choice(PLACES[vessel])
    words = ["take", "the", vessel, "add", "some", food, "then", VERB[vessel], "it", "for",
             rnd.choice(NUMS), UNIT[VERB[vessel]]]
    if rnd.random() < 0.5:
        words += ["and", "serve", "the", food]
    return words


class WordTokenizer:
    def __init__(self, corpus):
        self.itos = ["<pad>", "<bos>", "<eos>"] + sorted({w for s in corpus for w in s})
        self.stoi = {w: i for i, w in enumerate(self.itos)}

    def encode(self, words, max_len):
        ids = [1] + [self.stoi[w] for w in words] + [2]
        mask = [1] * len(ids)
        pad = max_len - len(ids)
        return ids + [0] * pad, mask + [0] * pad

    def decode(self, ids):
        return [self.itos[i] for i in ids]


def build_arrays(corpus, tok, max_len):
    enc = [tok.encode(s, max_len) for s in corpus]
    ids = np.array([e[0] for e in enc], dtype="int32")
    mask = np.array([e[1] for e in enc], dtype="int32")
    labels = np.where(mask == 1, ids, -100).astype("int32")
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def grammatical(words):
    """Check a complete command against the grammar."""
    if len(words) not in (12, 16) or words[:2] != ["take", "the"]:
        return False
    vessel, food, verb = words[2], words[5], words[7]
    if vessel not in PLACES or food not in PLACES[vessel] or verb != VERB[vessel]:
        return False
    if words[10] not in NUMS or words[11] != UNIT[verb]:
        return False
    return len(words) == 12 or words[12:] == ["and", "serve", "the", food]


def make_completer(model, tok, width=28):
    @tf.function(input_signature=[tf.TensorSpec((1, width), tf.int32)])
    def forward(ids):
        return model(ids, training=False).logits

    def complete(prompt):
        ids = [1] + [tok.stoi[w] for w in prompt]
        while len(ids) < width:
            logits = forward(tf.constant([ids + [0] * (width - len(ids))]))
            nxt = int(tf.argmax(logits[0, len(ids) - 1]))
            if nxt == 2:
                break
            ids.append(nxt)
        return tok.decode(ids[1:])

    return complete


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--lr", type=float, default=3e-3)
    args = ap.parse_args()

    tf_keras.utils.set_random_seed(5)
    rnd = random.Random(5)
    corpus = [command(rnd) for _ in range(900)]
    tok = WordTokenizer(corpus)
    train = build_arrays(corpus[:800], tok, 20)
    valid = build_arrays(corpus[800:], tok, 20)

    cfg = GPT2Config(vocab_size=len(tok.itos), n_positions=32, n_embd=48, n_layer=2, n_head=4,
                     bos_token_id=1, eos_token_id=2, pad_token_id=0,
                     resid_pdrop=0.05, embd_pdrop=0.05, attn_pdrop=0.05)
    model = TFGPT2LMHeadModel(cfg)
    model.compile(optimizer=tf_keras.optimizers.Adam(args.lr, clipnorm=1.0))

    ds = tf.data.Dataset.from_tensor_slices(train).shuffle(800, seed=1).batch(args.batch, drop_remainder=True)
    dv = tf.data.Dataset.from_tensor_slices(valid).batch(50)
    model.fit(ds, validation_data=dv, epochs=args.epochs, verbose=2)

    prompts = [["take", "the", v, "add"] for v in PLACES] + [["take", "the", v, "add", "some", f] for v in PLACES for f in PLACES[v]]
    complete = make_completer(model, tok)
    outs = [complete(p) for p in prompts]
    for o in outs[:5]:
        print("  ", " ".join(o))
    print(f"grammatical completions: {np.mean([grammatical(o) for o in outs]):.2f} of {len(outs)}")


if __name__ == "__main__":
    main()
