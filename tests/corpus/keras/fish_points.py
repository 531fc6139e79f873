# Three landmarks of a fish seen from the side: mouth, tip of the back fin, tail.
# One refinement layer is applied over and over, every stage has its own loss.
import argparse
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np
import tensorflow as tf
from keras import layers

S = 28


def draw(n, seed):
    r = np.random.RandomState(seed)
    yy, xx = np.mgrid[0:S, 0:S].astype("float32")
    X = np.zeros((n, S, S, 1), "float32")
    Y = np.zeros((n, 3, 2), "float32")
    for i in range(n):
        c = r.uniform(11, 17, 2)
        tilt = r.uniform(-0.5, 0.5)
        way = -1.0 if r.rand() < 0.5 else 1.0
        L, H = r.uniform(6, 8), r.uniform(2.2, 3.2)
        ax = np.array([np.cos(tilt), np.sin(tilt)]) * way
        up = np.array([np.sin(tilt), -np.cos(tilt)])
        u = (xx - c[0]) * ax[0] + (yy - c[1]) * ax[1]
        v = (xx - c[0]) * up[0] + (yy - c[1]) * up[1]
        body = (u / L) ** 2 + (v / H) ** 2 < 1
        tail = (u < -L + 1) & (u > -L - 3.5) & (abs(v) < (-u - L + 1.5) * 0.8)
        fin = (v > 0) & (v < H + 3) & (abs(u - 1) < (H + 3 - v) * 0.5)
        X[i, ..., 0] = np.where(body | tail | fin, r.uniform(0.6, 1.0), 0) + r.normal(0, 0.15, (S, S))
        Y[i] = [c + L * ax, c + ax + (H + 3) * up, c - (L + 3) * ax]
    return X, Y / (S - 1)


def augment(x, y):
    flip = tf.random.uniform(()) < 0.5
    x = tf.cond(flip, lambda: tf.image.flip_left_right(x), lambda: x)
    y = tf.cond(flip, lambda: tf.stack([1.0 - y[:, 0], y[:, 1]], -1), lambda: y)
    x = x * tf.random.uniform((), 0.7, 1.3) + tf.random.normal(tf.shape(x), stddev=0.05)
    return x, y


def to_targets(stages):
    return lambda x, y: (x, tuple(y for _ in range(stages)))


def network(mean, stages):
    inp = keras.Input((S, S, 1))
    x = inp
    for c, s in ((16, 1), (24, 2), (32, 2)):
        x = layers.Conv2D(c, 3, strides=s, padding="same", activation="relu")(x)
    f = layers.Dense(96, activation="relu")(layers.Flatten()(x))
    step = keras.Sequential([layers.Dense(64, activation="relu"),
                             layers.Dense(6, kernel_initializer=keras.initializers.RandomNormal(stddev=0.01))],
                            name="refine")
    add, shape = layers.Add(), layers.Reshape((3, 2))
    now = layers.Dense(6, kernel_initializer="zeros", trainable=False,
                       bias_initializer=keras.initializers.Constant(mean.reshape(-1)), name="start")(f)
    outs = []
    for _ in range(stages):
        now = add([now, step(layers.Concatenate()([f, now]))])
        outs.append(shape(now))
    return keras.Model(inp, outs)


def pixels(model, X, Y):
    return [float((S - 1) * np.linalg.norm(p - Y, axis=-1).mean()) for p in model.predict(X, verbose=0)]


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--stages", type=int, default=3)
    ap.add_argument("--epochs", type=int, default=18)
    a = ap.parse_args()
    keras.utils.set_random_seed(0)
    X, Y = draw(1200, 1)
    Xt, Yt = draw(300, 2)
    ds = (tf.data.Dataset.from_tensor_slices((X, Y)).cache().shuffle(1200)
          .map(augment, num_parallel_calls=2).batch(32).map(to_targets(a.stages)).prefetch(2))
    model = network(Y.mean(0), a.stages)
    weights = [0.3] * (a.stages - 1) + [1.0]
    model.compile(keras.optimizers.Adam(keras.optimizers.schedules.PolynomialDecay(3e-3, a.epochs * 38, 1e-4)),
                  loss=[keras.losses.Huber(0.05) for _ in range(a.stages)], loss_weights=weights)
    hist = model.fit(ds, epochs=a.epochs, verbose=0)
    print("train loss", [round(v, 5) for v in hist.history["loss"][::3]])
    px = pixels(model, Xt, Yt)
    flipped = Yt.copy()
    flipped[..., 0] = 1 - flipped[..., 0]
    print("per stage (px):", [round(p, 2) for p in px])
    print(f"held-out {px[-1]:.2f} px | mirrored pictures {pixels(model, Xt[:, :, ::-1], flipped)[-1]:.2f} px "
          f"| mean shape {(S - 1) * np.linalg.norm(Y.mean(0) - Yt, axis=-1).mean():.2f} px")
