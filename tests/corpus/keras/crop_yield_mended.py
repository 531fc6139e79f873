import argparse
import numpy as np
import tensorflow as tf
import keras

ap = argparse.ArgumentParser()
ap.add_argument("--epochs", type=int, default=7)
ap.add_argument("--batch", type=int, default=64)
ap.add_argument("--lr", type=float, default=3e-3)
ap.add_argument("--reg-weight", type=float, default=0.5)
args = ap.parse_args()

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)

# fields: soil, rain, sun, fertiliser, ... ; some harvest figures are misread
n = 5000
X = rng.normal(size=(n, 14)).astype("float32")
tonnes = (1.5 * X[:, 0] + X[:, 1] * X[:, 2] - 0.8 * np.abs(X[:, 3]) + 4.0).astype("float32")
grade = ((X[:, 4] + X[:, 5] > 0).astype(int) + (X[:, 6] > 0.3).astype(int)).astype("int32")
measured = tonnes + 0.1 * rng.normal(size=n).astype("float32")
typo = rng.random(n) < 0.05
measured[typo] *= 5.0
tr, te = slice(0, 4200), slice(4200, n)


def trimmed_mse(y, pred, keep=0.9):
    """Squared error without the largest tenth of the residuals."""
    resid = pred - y
    cut = np.quantile(np.abs(resid), keep)
    inside = np.abs(resid) <= cut
    return tf.reduce_mean(tf.boolean_mask(resid ** 2, inside))


inp = keras.Input((14,))
h = keras.layers.Dense(64, activation="relu")(inp)
h = keras.layers.Dense(64, activation="relu")(h)
out_grade = keras.layers.Dense(3, name="grade")(h)
side = keras.layers.Dense(32, activation="relu", name="yield_hidden")(h)
out_yield = keras.layers.Dense(1, name="tonnes")(side)
model = keras.Model(inp, [out_grade, out_yield])

opt = keras.optimizers.Adam(args.lr)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

ds = tf.data.Dataset.from_tensor_slices((X[tr], grade[tr], measured[tr]))
ds = ds.shuffle(5000, seed=1).batch(args.batch)

for epoch in range(args.epochs):
    log = []
    for xb, gb, yb in ds:
        with tf.GradientTape() as tape:
            logits, t = model(xb, training=True)
            cls = ce(gb, logits)
            reg = trimmed_mse(yb, t[:, 0])
            loss = cls + args.reg_weight * reg
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        log.append((float(cls), float(reg)))
    c, r = np.mean(log, axis=0)
    logits, t = model(X[te])
    acc = np.mean(logits.numpy().argmax(1) == grade[te])
    mae = np.mean(np.abs(t.numpy()[:, 0] - tonnes[te]))
    print(f"{epoch:2d} ce {c:.3f} trimmed {r:.3f} | test grade acc {acc:.3f} tonnes mae {mae:.3f}")
