import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import argparse
import numpy as np
import tensorflow as tf
import keras
from keras import layers

ap = argparse.ArgumentParser()
ap.add_argument("--steps", type=int, default=3000)
ap.add_argument("--batch", type=int, default=256)
ap.add_argument("--latent", type=int, default=4)
ap.add_argument("--r1", type=float, default=0.2)
ap.add_argument("--seed", type=int, default=5)
args = ap.parse_args()
keras.utils.set_random_seed(args.seed)

angles = np.arange(8) * np.pi / 4
CENTRES = np.stack([np.cos(angles), np.sin(angles)], 1).astype("float32") * 2


def real_points(n):
    which = tf.random.uniform([n], 0, 8, dtype=tf.int32)
    return tf.gather(tf.constant(CENTRES), which) + tf.random.normal([n, 2], stddev=0.1)


def mlp(inp, out, name):
    return keras.Sequential([keras.Input((inp,)), layers.Dense(96, "leaky_relu"), layers.Dense(96, "leaky_relu"),
                             layers.Dense(96, "leaky_relu"), layers.Dense(out)], name=name)


class Gan(keras.Model):
    def __init__(self, latent, r1):
        super().__init__()
        self.latent, self.r1 = latent, r1
        self.gen = mlp(latent, 2, "gen")
        self.shadow = mlp(latent, 2, "shadow")
        self.shadow.set_weights(self.gen.get_weights())
        self.shadow.trainable = False
        self.disc = mlp(2, 1, "disc")
        self.m = {k: keras.metrics.Mean(name=k) for k in ("d_loss", "g_loss", "r1")}

    def compile(self, g_opt, d_opt):
        super().compile()
        self.g_opt, self.d_opt = g_opt, d_opt

    @property
    def metrics(self):
        return list(self.m.values())

    def call(self, z):
        return self.shadow(z)

    def train_step(self, real):
        n = tf.shape(real)[0]
        fake = self.gen(tf.random.normal([n, self.latent]))
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:
                inner.watch(real)
                dr = self.disc(real)
            slope = inner.gradient(dr, real)
            penalty = tf.reduce_mean(tf.reduce_sum(slope ** 2, 1))
            df = self.disc(fake)
            d_loss = tf.reduce_mean(tf.nn.softplus(-dr)) + tf.reduce_mean(tf.nn.softplus(df))
            total = d_loss + 0.5 * self.r1 * penalty
        dv = self.disc.trainable_variables
        self.d_opt.apply_gradients(zip(tape.gradient(total, dv), dv))

        with tf.GradientTape() as tape:
            g_loss = tf.reduce_mean(tf.nn.softplus(-self.disc(self.gen(tf.random.normal([n, self.latent])))))
        gv = self.gen.trainable_variables
        self.g_opt.apply_gradients(zip(tape.gradient(g_loss, gv), gv))
        for s, v in zip(self.shadow.variables, self.gen.variables):
            s.assign(0.99 * s + 0.01 * v)
        for k, v in (("d_loss", d_loss), ("g_loss", g_loss), ("r1", penalty)):
            self.m[k].update_state(v)
        return {k: m.result() for k, m in self.m.items()}


def report(model):
    pts = model(tf.random.normal([4000, args.latent])).numpy()
    d = np.linalg.norm(pts[:, None] - CENTRES[None], axis=-1)
    near, close = d.argmin(1), d.min(1) < 0.4
    share = np.bincount(near[close], minlength=8) / len(pts)
    return close.mean(), share


class Watch(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        good, share = report(self.model)
        print(f"  close to a mode {good:.2f}; share of each mode {np.round(share, 2).tolist()}")


data = tf.data.Dataset.range(10 ** 9).map(lambda _: real_points(args.batch)).prefetch(2)
gan = Gan(args.latent, args.r1)
gan.compile(keras.optimizers.Adam(1e-3, beta_1=0.0, beta_2=0.99), keras.optimizers.Adam(1e-3, beta_1=0.0, beta_2=0.99))
gan.fit(data, epochs=6, steps_per_epoch=args.steps // 6, verbose=2, callbacks=[Watch()])
