"""Trip duration model for a bike-share operator, trained from the shards of the trip log.

The log is exported month by month (one npz per month and half). Several readers feed
one tf.data pipeline; afterwards the fleet total is compared with the accounting ledger.
"""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import glob
import shutil

import keras
import numpy as np
import tensorflow as tf

FOLDER = os.path.join("out", "bike_trips")
READERS = 4
BATCH = 64
EPOCHS = 4
ROWS_PER_SHARD = 500


def write_shards(split, n_shards, seed):
    rng = np.random.default_rng(seed)
    folder = os.path.join(FOLDER, split)
    os.makedirs(folder, exist_ok=True)
    for s in range(n_shards):
        n = ROWS_PER_SHARD
        month = np.full(n, 12.0 * s / n_shards)
        hour = rng.integers(6, 23, n)
        dist = rng.gamma(2.0, 1.2, n) + 0.3
        climb = rng.normal(0, 30, n)
        member = rng.random(n) < 0.6
        warm = np.cos(2 * np.pi * (month - 6.5) / 12)
        pace = 4.2 - 0.5 * member + 0.012 * climb + 0.35 * ((hour == 8) | (hour == 17))
        leisure = 6.0 * (1 + warm) * (~member) + 2.0 * warm
        minutes = dist * pace + leisure + 2 + rng.gamma(2.0, 0.5, n)
        x = np.stack([np.cos(2 * np.pi * month / 12), np.sin(2 * np.pi * month / 12),
                      hour / 12 - 1, dist / 3, climb / 30, member], 1)
        np.savez(os.path.join(folder, f"part-{s:03d}.npz"),
                 x=x.astype("float32"), y=minutes.astype("float32"))


class TripStream:
    """Yields trips straight from disk so the whole log never sits in memory."""

    def __init__(self, split):
        self.files = sorted(glob.glob(os.path.join(FOLDER, split, "part-*.npz")))

    def __len__(self):
        return len(self.files) * ROWS_PER_SHARD

    def read(self, reader):
        for path in self.files[int(reader)::READERS]:
            with np.load(path) as part:
                yield from zip(part["x"], part["y"])

    def dataset(self):
        signature = (tf.TensorSpec((6,), tf.float32), tf.TensorSpec((), tf.float32))
        return tf.data.Dataset.range(READERS).interleave(
            lambda reader: tf.data.Dataset.from_generator(
                self.read, args=(reader,), output_signature=signature),
            cycle_length=READERS,
            block_length=16,
            num_parallel_calls=READERS,
        )


def build_model():
    return keras.Sequential([
        keras.Input((6,)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(1),
    ])


def main():
    keras.utils.set_random_seed(8)
    shutil.rmtree(FOLDER, ignore_errors=True)
    write_shards("train", 24, seed=1)
    write_shards("heldout", 8, seed=2)
    train, heldout = TripStream("train"), TripStream("heldout")

    model = build_model()
    steps_per_epoch = len(train) // BATCH
    schedule = keras.optimizers.schedules.CosineDecay(3e-3, EPOCHS * steps_per_epoch)
    opt = keras.optimizers.Adam(schedule)
    huber = keras.losses.Huber(delta=3.0)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = huber(y[:, None], model(x, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    batches = train.dataset().shuffle(4000, seed=8).batch(BATCH).prefetch(4)
    for epoch in range(EPOCHS):
        losses = [step(x, y) for x, y in batches.take(steps_per_epoch)]
        print(f"epoch {epoch + 1}: {len(losses)} steps, huber {np.mean(losses[-50:]):.3f}")

    trips, predicted, abs_err = 0, 0.0, 0.0
    for x, y in heldout.dataset().batch(256):
        p = model(x, training=False)[:, 0]
        trips += int(tf.size(y))
        predicted += float(tf.reduce_sum(p))
        abs_err += float(tf.reduce_sum(tf.abs(p - y)))

    ledger = [np.load(f)["y"] for f in heldout.files]
    ledger_minutes = float(sum(part.sum() for part in ledger))
    y_all = np.concatenate(ledger)
    print(f"held-out trips seen {trips}, MAE {abs_err / trips:.3f} min "
          f"(median baseline {np.abs(y_all - np.median(y_all)).mean():.3f})")
    print(f"predicted ride minutes {predicted:,.0f}, ledger {ledger_minutes:,.0f}, "
          f"ratio {predicted / ledger_minutes:.3f}")


if __name__ == "__main__":
    main()
