import numpy as np
import tensorflow as tf

tf.random.set_seed(1)
rng = np.random.default_rng(1)


def parcels(n):
    dims = rng.uniform(5, 60, (n, 3))
    density = rng.choice([0.1, 0.3, 0.8], n)
    kind = np.eye(3)[np.searchsorted([0.1, 0.3, 0.8], density)]
    grams = dims.prod(1) * density
    x = np.concatenate([np.log(dims) - 3.2, kind], 1).astype("float32")
    y = (np.log(grams) - 8.3 + rng.normal(0, 0.05, n)).astype("float32")
    return x, y


class Accumulator:
    """Sums the gradients of several small batches and hands out their mean."""

    def __init__(self, variables):
        self.slots = [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]
        self.count = tf.Variable(0.0, trainable=False)

    def add(self, grads):
        for s, g in zip(self.slots, grads):
            s.assign_add(g)
        self.count.assign_add(1.0)

    def take(self):
        mean = [s / self.count for s in self.slots]
        mean, norm = tf.clip_by_global_norm(mean, 1.0)
        for s in self.slots:
            s.assign(tf.zeros_like(s))
        self.count.assign(0.0)
        return mean, norm


net = tf.keras.Sequential([
    tf.keras.layers.Input((6,)),
    tf.keras.layers.Dense(64, activation="swish"),
    tf.keras.layers.Dense(64, activation="swish"),
    tf.keras.layers.Dense(1),
])
schedule = tf.keras.optimizers.schedules.PolynomialDecay(5e-3, 2000, end_learning_rate=1e-4)
opt = tf.keras.optimizers.Adam(schedule)
opt.build(net.trainable_variables)
acc = Accumulator(net.trainable_variables)


@tf.function
def look(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(net(x, training=True)[:, 0] - y))
    acc.add(tape.gradient(loss, net.trainable_variables))
    return loss


@tf.function
def move():
    grads, norm = acc.take()
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return norm


x, y = parcels(4000)
xv, yv = parcels(1000)
GROUP = 8
for epoch in range(16):
    seen = []
    perm = rng.permutation(len(x))
    for k, part in enumerate(np.array_split(perm, 1000), 1):
        seen.append(look(tf.constant(x[part]), tf.constant(y[part])))
        if k % GROUP == 0:
            move()
    mae = float(tf.reduce_mean(tf.abs(net(xv)[:, 0] - yv)))
    print(f"epoch {epoch:2d} train {float(tf.add_n(seen)) / len(seen):.4f} valid mae {mae:.4f} rate {float(opt.learning_rate):.5f}")
print("mean guess would give", float(np.abs(yv - y.mean()).mean()))
