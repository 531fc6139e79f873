"""Four-fold study on a synthetic tasting table: small residual MLP, hand-written training step, out-of-fold score."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import argparse

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


def tasting_table(n, rng):
    x = rng.normal(size=(n, 14)).astype("float32")
    body = x[:, 0] * x[:, 1] + 0.8 * x[:, 2]
    acid = np.sin(1.5 * x[:, 3]) + 0.7 * x[:, 4] - 0.5 * x[:, 5]
    tannin = np.abs(x[:, 6]) - 0.8 + 0.6 * x[:, 7]
    scores = np.stack([body, acid, tannin], 1) + rng.normal(0, 0.15, (n, 3))
    return x, scores.argmax(1).astype("int32")


class ResBlock(layers.Layer):
    def __init__(self, width, drop):
        super().__init__()
        self.norm = layers.LayerNormalization()
        self.up = layers.Dense(2 * width, activation="gelu")
        self.down = layers.Dense(width)
        self.drop = layers.Dropout(drop)

    def call(self, h, training=False):
        return h + self.drop(self.down(self.up(self.norm(h))), training=training)


class Trainer:
    def __init__(self, args):
        self.args = args
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.step = tf.function(self._step)

    def reset(self, fold):
        keras.utils.set_random_seed(self.args.seed + fold)
        inp = keras.Input((14,))
        h = layers.Dense(self.args.width)(inp)
        for _ in range(self.args.blocks):
            h = ResBlock(self.args.width, 0.1)(h)
        self.model = keras.Model(inp, layers.Dense(3)(h))
        self.optimizer = keras.optimizers.AdamW(self.args.lr, weight_decay=1e-3)
        self.optimizer.build(self.model.trainable_variables)

    def _step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss_fn(y, self.model(x, training=True))
        weights = self.model.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return loss

    def fit(self, x, y):
        ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x)).batch(self.args.batch, drop_remainder=True)
        for _ in range(self.args.epochs):
            losses = [self.step(xb, yb) for xb, yb in ds]
        return float(tf.reduce_mean(losses))

    def predict(self, x):
        return tf.nn.softmax(self.model(x, training=False)).numpy()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--folds", type=int, default=4)
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--width", type=int, default=48)
    p.add_argument("--blocks", type=int, default=2)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--seed", type=int, default=11)
    args = p.parse_args()

    rng = np.random.default_rng(args.seed)
    x, y = tasting_table(2500, rng)
    fold_of = rng.permutation(len(x)) % args.folds
    oof = np.zeros((len(x), 3))
    trainer = Trainer(args)
    for fold in range(args.folds):
        trainer.reset(fold)
        last = trainer.fit(x[fold_of != fold], y[fold_of != fold])
        held = fold_of == fold
        oof[held] = trainer.predict(x[held])
        print(f"fold {fold}  last train loss {last:.3f}  accuracy {np.mean(oof[held].argmax(1) == y[held]):.3f}")
    print(f"out-of-fold accuracy {np.mean(oof.argmax(1) == y):.3f}")


if __name__ == "__main__":
    main()
