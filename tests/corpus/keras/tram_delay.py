"""Tram delay with a heteroscedastic Gaussian likelihood; gradients accumulated over micro-batches."""
import argparse
import numpy as np
import tensorflow as tf
import keras
from keras import layers

ap = argparse.ArgumentParser()
ap.add_argument("--micro", type=int, default=16)
ap.add_argument("--accum", type=int, default=4)
ap.add_argument("--epochs", type=int, default=20)
ap.add_argument("--lr", type=float, default=3e-3)
args = ap.parse_args()

keras.utils.set_random_seed(12)
rng = np.random.default_rng(12)
N = 4000
hour = rng.uniform(5, 24, N)
rain = rng.exponential(1.0, N) * (rng.random(N) < 0.3)
stops = rng.integers(2, 30, N)
line = rng.integers(0, 5, N)
rush = np.exp(-((hour - 8) / 1.2) ** 2) + np.exp(-((hour - 17.5) / 1.5) ** 2)
mean = 0.02 * stops * (1 + 2 * rush) + 0.15 * rain + np.array([0.0, 0.1, 0.25, 0.05, 0.4])[line]
std = 0.03 + 0.12 * rush + 0.03 * rain
delay = mean + std * rng.normal(size=N)

x = np.column_stack([np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi), hour / 24 - 0.6,
                     rain, stops / 30 - 0.5, np.eye(5)[line]]).astype("float32")
y = delay.astype("float32")[:, None]
tr, va, te = slice(0, 2800), slice(2800, 3200), slice(3200, N)

inp = keras.Input((x.shape[1],))
h = layers.Dense(64, activation="silu")(inp)
h = layers.Dense(64, activation="silu")(h)
net = keras.Model(inp, [layers.Dense(1)(h), layers.Dense(1, bias_initializer=keras.initializers.Constant(-1.0))(h)])
opt = keras.optimizers.AdamW(args.lr, weight_decay=1e-4)


def nll(target, mu, log_s):
    return tf.reduce_mean(log_s + 0.5 * tf.square((target - mu) * tf.exp(-log_s)))


@tf.function
def micro_step(xb, yb, share):
    with tf.GradientTape() as tape:
        mu, log_s = net(xb, training=True)
        value = nll(yb, mu, log_s)
        part = value * share
    return value, tape.gradient(part, net.trainable_variables)


@tf.function
def update(grads):
    clipped, _ = tf.clip_by_global_norm(grads, 5.0)
    opt.apply_gradients(zip(clipped, net.trainable_variables))


opt.build(net.trainable_variables)
for epoch in range(args.epochs):
    order = rng.permutation(2800)
    losses, bucket, held = [], None, 0
    chunks = [order[i:i + args.micro] for i in range(0, len(order), args.micro)]
    for i, idx in enumerate(chunks):
        value, g = micro_step(tf.constant(x[tr][idx]), tf.constant(y[tr][idx]), tf.constant(1.0 / args.accum))
        bucket = g if bucket is None else [a + b for a, b in zip(bucket, g)]
        held += 1
        losses.append(float(value))
        if held == args.accum or i == len(chunks) - 1:
            update([b * (args.accum / held) for b in bucket])
            bucket, held = None, 0
    if epoch % 4 == 3:
        mu, ls = net(x[va])
        print(f"epoch {epoch + 1:2d} train nll {np.mean(losses):.3f} val nll {float(nll(y[va], mu, ls)):.3f}")

mu, ls = (np.asarray(a) for a in net(x[te]))
s = np.exp(ls)
const = float(np.log(y[tr].std()) + 0.5 * np.mean(((y[te] - y[tr].mean()) / y[tr].std()) ** 2))
cover = float(np.mean(np.abs(y[te] - mu) < 1.645 * s))
print(f"test nll {float(nll(y[te], mu, ls)):.3f}  constant Gaussian {const:.3f}")
print(f"test MAE {np.abs(y[te] - mu).mean():.3f}  mean-only {np.abs(y[te] - y[tr].mean()).mean():.3f}  90% interval covers {cover:.3f}")
