"""A small GPT-2 that continues tunes written in letters."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import argparse
import logging
import math

import numpy as np
import tensorflow as tf
from transformers import GPT2Config, TFGPT2LMHeadModel

logger = logging.getLogger("tunebook")

NOTES = list("CDEFGABcdefgab")
MARKS = ["|", ":", "2", "z"]
EOS = 0
VOCAB = ["<eos>"] + NOTES + MARKS
INDEX = {s: i for i, s in enumerate(VOCAB)}


def make_tune(rng, bars):
    motif = rng.integers(2, 9, 3)
    steps = rng.choice([1, 2, -1, -2, 0], 1)[0]
    out = []
    for bar in range(bars):
        shift = steps * (bar % 3)
        for n in motif:
            out.append(NOTES[int(np.clip(n + shift, 0, len(NOTES) - 1))])
        if bar % 2:
            out.append("2")
        out.append("|")
    out[-1] = ":"
    return [INDEX[s] for s in out]


def make_rows(n, length, seed):
    rng = np.random.default_rng(seed)
    rows = np.full((n, length), EOS, dtype="int32")
    mask = np.zeros((n, length), dtype="int32")
    for i in range(n):
        tune = (make_tune(rng, rng.integers(4, 11)) + [EOS])[:length]
        rows[i, :len(tune)] = tune
        mask[i, :len(tune)] = 1
    labels = np.where(mask == 1, rows, -100)
    return {"input_ids": rows, "attention_mask": mask, "labels": labels}


class WarmupCosine(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warmup, total):
        self.peak, self.warmup, self.total = peak, warmup, total

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        rise = (step + 1.0) / self.warmup
        fall = 0.5 * (1 + tf.cos(math.pi * tf.minimum(1.0, (step - self.warmup) / (self.total - self.warmup))))
        return self.peak * tf.where(step < self.warmup, rise, fall)

    def get_config(self):
        return {"peak": self.peak, "warmup": self.warmup, "total": self.total}


class Continue(tf.keras.callbacks.Callback):
    def __init__(self, prompt, every):
        super().__init__()
        self.prompt, self.every = prompt, every

    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % self.every:
            return
        out = self.model.generate(self.prompt[None], max_new_tokens=16, do_sample=False, pad_token_id=EOS)
        logger.info("epoch %d  %s", epoch + 1, " ".join(VOCAB[t] for t in out[0].numpy()))


def evaluate(model, rows):
    out = model.predict({k: rows[k] for k in ("input_ids", "attention_mask")}, batch_size=64, verbose=0)
    guess = out.logits[:, :-1].argmax(-1)
    target = rows["labels"][:, 1:]
    keep = target != -100
    late = keep & (np.arange(keep.shape[1]) >= 9)
    return (guess[keep] == target[keep]).mean(), (guess[late] == target[late]).mean()


def build(args):
    config = GPT2Config(
        vocab_size=len(VOCAB), n_positions=args.length, n_embd=args.width, n_layer=2, n_head=4,
        resid_pdrop=0.0, embd_pdrop=0.05, attn_pdrop=0.0,
        bos_token_id=EOS, eos_token_id=EOS, pad_token_id=EOS,
    )
    return TFGPT2LMHeadModel(config)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tunes", type=int, default=1200)
    p.add_argument("--length", type=int, default=48)
    p.add_argument("--width", type=int, default=64)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--seed", type=int, default=2)
    args = p.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    tf.keras.utils.set_random_seed(args.seed)

    train, test = make_rows(args.tunes, args.length, args.seed), make_rows(200, args.length, args.seed + 1)
    ds = tf.data.Dataset.from_tensor_slices(train).shuffle(args.tunes, seed=args.seed)
    ds = ds.repeat().batch(args.batch_size)
    steps = args.tunes // args.batch_size

    model = build(args)
    schedule = WarmupCosine(args.lr, warmup=steps, total=args.epochs * steps)
    model.compile(optimizer=tf.keras.optimizers.Adam(schedule, beta_2=0.98, global_clipnorm=1.0))
    model.fit(ds, steps_per_epoch=steps, epochs=args.epochs, verbose=2,
              callbacks=[Continue(tf.constant(test["input_ids"][0, :9]), every=5)])
    every, late = evaluate(model, test)
    logger.info("next symbol: all %.3f, after two bars %.3f", every, late)


if __name__ == "__main__":
    main()
