"""Wind power with its own uncertainty: the network gives mean and log variance, Gaussian likelihood,
a first phase with the plain squared error, gradients of four minibatches added up. GradientTape."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(30)
rng = np.random.default_rng(30)


def site(n):
    """Hourly rows: forecast wind, direction, temperature, hour; power with spread that grows on the ramp."""
    wind = np.zeros(n)
    wind[0] = 8
    for i in range(1, n):
        wind[i] = max(0.3, wind[i - 1] + 0.08 * (8 - wind[i - 1]) + rng.normal(0, 1.0))
    direction = np.cumsum(rng.normal(0, 0.15, n))
    temp = 10 + 8 * np.sin(2 * np.pi * np.arange(n) / 24) + rng.normal(0, 2, n)
    wake = 1 - 0.25 * np.exp(-0.5 * (np.sin((direction - 1) / 2) / 0.25) ** 2)
    curve = 1 / (1 + np.exp(-(wind * wake - 8.5) * 0.8)) * (1 - 0.004 * (temp - 10))
    spread = 0.01 + 0.09 * np.exp(-0.5 * ((wind - 8.5) / 2) ** 2)
    power = curve + spread * rng.normal(0, 1, n)
    x = np.c_[wind / 5 - 1.6, np.sin(direction), np.cos(direction), temp / 10 - 1]
    return x.astype("float32"), power.astype("float32")


x, y = site(6000)
cut1, cut2 = 4200, 4900
xtr, ytr, xva, yva, xte, yte = x[:cut1], y[:cut1], x[cut1:cut2], y[cut1:cut2], x[cut2:], y[cut2:]
y_mean, y_std = ytr.mean(), ytr.std()

inp = keras.Input((4,))
h = layers.Dense(64, activation="swish")(inp)
h = layers.Dense(64, activation="swish")(h)
mean = layers.Dense(1)(h)
log_var = layers.Dense(1, kernel_initializer="zeros", bias_initializer=keras.initializers.Constant(-1.0))(h)
model = keras.Model(inp, layers.Concatenate()([mean, log_var]))
optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(4e-3, 40 * 17))

buffers = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]


def nll(target, out):
    mu, lv = out[:, 0], tf.clip_by_value(out[:, 1], -9.0, 3.0)
    return 0.5 * tf.reduce_mean(lv + (target - mu) ** 2 * tf.exp(-lv))


@tf.function
def gather(xb, yb, use_nll):
    with tf.GradientTape() as tape:
        out = model(xb, training=True)
        loss = tf.cond(use_nll, lambda: nll(yb, out), lambda: tf.reduce_mean((yb - out[:, 0]) ** 2))
    grads = tape.gradient(loss, model.trainable_variables, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    for b, g in zip(buffers, grads):
        b.assign_add(g / 4.0)
    return loss


@tf.function
def apply():
    grads, _ = tf.clip_by_global_norm([b.read_value() for b in buffers], 5.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    for b in buffers:
        b.assign(tf.zeros_like(b))


def report(xs, ys):
    out = model(xs, training=False).numpy()
    mu = out[:, 0] * y_std + y_mean
    sd = np.exp(0.5 * np.clip(out[:, 1], -9, 3)) * y_std
    z = (ys - mu) / sd
    return dict(nll=float((0.5 * np.log(2 * np.pi) + np.log(sd) + 0.5 * z ** 2).mean()),
                rmse=float(np.sqrt(((ys - mu) ** 2).mean())),
                cover=float((np.abs(z) < 1.645).mean()))


target = ((ytr - y_mean) / y_std).astype("float32")
for epoch in range(40):
    order = rng.permutation(len(xtr))
    use_nll = tf.constant(epoch >= 6)
    losses = []
    for k, i in enumerate(range(0, len(order) - 63, 64), 1):
        sel = order[i:i + 64]
        losses.append(float(gather(tf.constant(xtr[sel]), tf.constant(target[sel]), use_nll)))
        if k % 4 == 0:
            apply()
    if k % 4:
        apply()
    if epoch % 6 == 5 or epoch == 39:
        r = report(xva, yva)
        print(f"epoch {epoch:2d}  loss {np.mean(losses):7.3f}  valid nll {r['nll']:7.3f}  rmse {r['rmse']:.4f}")

r = report(xte, yte)
flat = 0.5 * np.log(2 * np.pi * y_std ** 2) + 0.5 * ((yte - y_mean) ** 2).mean() / y_std ** 2
print(f"TEST nll {r['nll']:.3f} (fixed Gaussian {flat:.3f})  rmse {r['rmse']:.4f} (mean {np.std(yte):.4f})  "
      f"90% interval holds {r['cover']:.3f}")
