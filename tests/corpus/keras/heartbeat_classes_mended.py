"""Beat classification (normal / PVC / AF-like / ST-change) with micro-batches of 8."""
import argparse
import logging

import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.metrics import balanced_accuracy_score

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("beats")
LENGTH = 128
N_CLASSES = 4


def bump(t, c, w, h):
    return h * np.exp(-0.5 * ((t - c) / w) ** 2)


def beat(kind, rng):
    t = np.linspace(0, 1, LENGTH)
    s = rng.normal(0, 0.015)
    width = 0.035 if kind == 1 else 0.015
    x = bump(t, 0.5 + s, width * rng.uniform(0.9, 1.2), rng.uniform(0.9, 1.3))
    x -= bump(t, 0.54 + s, width, 0.25)
    x += bump(t, 0.75 + s, 0.045, -0.3 if kind == 1 else 0.3)
    if kind == 2:
        x += 0.08 * np.sin(2 * np.pi * rng.uniform(6, 9) * t + rng.uniform(0, 6))
    else:
        x += bump(t, 0.32 + s, 0.025, 0.15)
    if kind == 3:
        x += bump(t, 0.63 + s, 0.05, rng.uniform(-0.3, -0.18))
    drift = 0.1 * np.sin(2 * np.pi * t * rng.uniform(0.3, 0.8) + rng.uniform(0, 6))
    return x + drift + rng.normal(0, 0.06, LENGTH)


def beats(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.choice(N_CLASSES, n, p=[0.4, 0.2, 0.2, 0.2])
    x = np.stack([beat(k, rng) for k in y])[..., None]
    return x.astype("float32"), y.astype("int32")


def network():
    return keras.Sequential([
        keras.Input((LENGTH, 1)),
        layers.Conv1D(16, 9, strides=2, padding="same", activation="relu"),
        layers.Conv1D(32, 7, strides=2, padding="same", activation="relu"),
        layers.Conv1D(32, 5, strides=2, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(32, activation="relu"),
        layers.Dense(N_CLASSES),
    ])


class Trainer:
    def __init__(self, model, lr, accum_steps):
        self.model = model
        self.accum_steps = accum_steps
        self.opt = keras.optimizers.SGD(lr, momentum=0.9)
        self.opt.build(model.trainable_variables)
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.buffers = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in model.trainable_variables]

    @tf.function
    def micro_step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss_fn(y, self.model(x, training=True))
            scaled = loss / self.accum_steps
        for buf, g in zip(self.buffers, tape.gradient(scaled, self.model.trainable_variables)):
            buf.assign_add(g)
        return loss

    @tf.function
    def update(self):
        self.opt.apply_gradients(zip([b.value() for b in self.buffers], self.model.trainable_variables))
        for buf in self.buffers:
            buf.assign(tf.zeros_like(buf))

    def epoch(self, ds):
        losses = []
        for step, (x, y) in enumerate(ds, 1):
            losses.append(float(self.micro_step(x, y)))
            if step % self.accum_steps == 0:
                self.update()
        return np.mean(losses)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--lr", type=float, default=0.03)
    ap.add_argument("--accum", type=int, default=4)
    args = ap.parse_args()
    keras.utils.set_random_seed(2)
    x, y = beats(1280, 0)
    xt, yt = beats(500, 1)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1280).batch(8, drop_remainder=True).prefetch(4)
    trainer = Trainer(network(), args.lr, args.accum)
    for e in range(args.epochs):
        loss = trainer.epoch(ds)
        pred = trainer.model.predict(xt, verbose=0).argmax(1)
        log.info("epoch %d loss %.4f held-out balanced acc %.3f", e + 1, loss, balanced_accuracy_score(yt, pred))
    print("final balanced accuracy %.3f (chance %.3f)" % (balanced_accuracy_score(yt, pred), 1 / N_CLASSES))


if __name__ == "__main__":
    main()
