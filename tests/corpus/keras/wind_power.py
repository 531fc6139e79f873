import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)

N = 4000
wind = rng.weibull(2.0, N) * 8
turbulence = rng.uniform(0.02, 0.25, N)
clean = 1 / (1 + np.exp(-(wind - 9) / 1.3))
power = clean + rng.normal(0, 0.02 + 0.6 * turbulence * clean * (1 - clean))

x = np.column_stack([(wind - wind.mean()) / wind.std(), (turbulence - 0.135) / 0.066]).astype("float32")
y = power.astype("float32").reshape(-1, 1)
x_fit, y_fit, x_eval, y_eval = x[:3200], y[:3200], x[3200:], y[3200:]

MICRO = 16
ACCUMULATE = 4


class FourierFeatures(tf.keras.layers.Layer):
    def __init__(self, width, **kw):
        super().__init__(**kw)
        self.width = width

    def build(self, shape):
        self.freq = self.add_weight(shape=(shape[-1], self.width), trainable=False, name="freq",
                                    initializer=tf.keras.initializers.RandomNormal(stddev=0.7, seed=9))

    def call(self, inputs):
        proj = tf.matmul(inputs, self.freq)
        return tf.concat([tf.sin(proj), tf.cos(proj), inputs], axis=-1)


model = tf.keras.Sequential([
    tf.keras.Input((2,)),
    FourierFeatures(48),
    tf.keras.layers.Dense(64, activation="tanh"),
    tf.keras.layers.Dense(2),
])
optimizer = tf.keras.optimizers.Adam(2e-3)
weights = model.trainable_variables
buffers = [tf.Variable(tf.zeros_like(w), trainable=False) for w in weights]


def gaussian_nll(target, out):
    mean, log_sd = out[:, :1], out[:, 1:]
    z = (target - mean) * tf.exp(-log_sd)
    return tf.reduce_mean(0.5 * tf.square(z) + log_sd + 0.5 * np.log(2 * np.pi))


@tf.function
def micro_step(xb, yb):
    with tf.GradientTape() as tape:
        loss = gaussian_nll(yb, model(xb, training=True))
        share = loss / ACCUMULATE
    for buf, g in zip(buffers, tape.gradient(share, weights)):
        buf.assign_add(g)
    return loss


@tf.function
def update():
    grads, _ = tf.clip_by_global_norm([tf.identity(b) for b in buffers], 5.0)
    optimizer.apply_gradients(zip(grads, weights))
    for buf in buffers:
        buf.assign(tf.zeros_like(buf))


stream = tf.data.Dataset.from_tensor_slices((x_fit, y_fit)).shuffle(3200, seed=9).batch(MICRO)
for epoch in range(40):
    losses = []
    for i, (xb, yb) in enumerate(stream, start=1):
        losses.append(micro_step(xb, yb))
        if i % ACCUMULATE == 0:
            update()
    if (epoch + 1) % 10 == 0:
        print(f"epoch {epoch + 1:2d} nll {np.mean(losses):.4f}")

out = model(x_eval, training=False)
mean, sd = out[:, :1].numpy(), np.exp(out[:, 1:].numpy())
constant = 0.5 * np.log(2 * np.pi * y_fit.var()) + 0.5 * np.mean((y_eval - y_fit.mean()) ** 2) / y_fit.var()
print(f"eval nll {float(gaussian_nll(y_eval, out)):.4f} (constant gaussian {constant:.4f})")
print(f"eval rmse {np.sqrt(np.mean((mean - y_eval) ** 2)):.4f} (std of target {y_eval.std():.4f})")
print(f"share within one sd {np.mean(np.abs(mean - y_eval) < sd):.4f}")
