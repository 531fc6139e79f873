import argparse
import os
import resource
import time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import logging
import numpy as np
import tensorflow as tf
from tensorflow import keras

logging.getLogger("tensorflow").setLevel(logging.ERROR)


def make_parser():
    p = argparse.ArgumentParser()
    p.add_argument("--species", type=int, default=6)
    p.add_argument("--clips", type=int, default=1600)
    p.add_argument("--bands", type=int, default=24)
    p.add_argument("--frames", type=int, default=32)
    p.add_argument("--steps", type=int, default=45)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--warmup", type=int, default=10)
    p.add_argument("--peak-lr", type=float, default=4e-3)
    return p


def spectrograms(args, rng):
    y = rng.integers(0, args.species, args.clips)
    t = np.arange(args.frames)
    x = rng.normal(0, 0.6, (args.clips, args.frames, args.bands))
    for i, c in enumerate(y):
        centre = 4 + 2.5 * c + (2.5 + 0.3 * c) * np.sin(2 * np.pi * t / (6 + 3 * c) + rng.uniform(0, 6))
        band = np.clip(centre, 0, args.bands - 1).astype(int)
        x[i, t, band] += rng.uniform(1.2, 2.2)
    return x.astype("float32"), y.astype("int32")


def build(args):
    return keras.Sequential([
        keras.Input((args.frames, args.bands)),
        keras.layers.Conv1D(48, 5, padding="same", activation="relu"),
        keras.layers.MaxPooling1D(2),
        keras.layers.Conv1D(48, 5, padding="same", activation="relu"),
        keras.layers.GlobalAveragePooling1D(),
        keras.layers.Dense(args.species),
    ])


def rate_at(step, args):
    if step < args.warmup:
        return args.peak_lr * (step + 1) / args.warmup
    rest = (step - args.warmup) / max(args.steps - args.warmup, 1)
    return args.peak_lr * 0.5 * (1 + np.cos(np.pi * rest))


def rss_mb():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize() / 2 ** 20


def main():
    args = make_parser().parse_args()
    keras.utils.set_random_seed(3)
    x, y = spectrograms(args, np.random.default_rng(3))
    cut = int(0.8 * args.clips)
    model = build(args)
    opt = keras.optimizers.Adam(args.peak_lr)
    opt.build(model.trainable_variables)
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def train_step(xb, yb, lr):
        opt.learning_rate.assign(lr)
        with tf.GradientTape() as tape:
            loss = loss_fn(yb, model(xb, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    feed = iter(tf.data.Dataset.from_tensor_slices((x[:cut], y[:cut]))
                .shuffle(cut, seed=1).repeat().batch(args.batch))
    begin, start_mem = time.time(), None
    for step in range(args.steps):
        xb, yb = next(feed)
        lr = float(rate_at(step, args))
        loss = train_step(xb, yb, lr)
        if step == 10:
            start_mem = rss_mb()
        if step % 15 == 14:
            print(f"step {step + 1} loss {float(loss):.4f} rss {rss_mb():.0f} MB "
                  f"{(time.time() - begin) / (step + 1) * 1000:.0f} ms/step")

    growth = (rss_mb() - start_mem) / (args.steps - 11)
    acc = np.mean(model.predict(x[cut:], verbose=0).argmax(1) == y[cut:])
    print(f"test accuracy {acc:.4f}  memory per step {growth * 1024:.0f} kB  "
          f"training time {time.time() - begin:.1f} s")


if __name__ == "__main__":
    main()
