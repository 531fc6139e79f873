"""Average calling intensity in a field recording, from frame features of very different recording lengths."""
import numpy as np
import tensorflow as tf

tf.random.set_seed(8)
rng = np.random.default_rng(8)
MAX_T, DIM = 120, 12
mix = rng.normal(size=(3, DIM)).astype("float32")


def recordings(n):
    x = np.zeros((n, MAX_T, DIM), "float32")
    length = rng.integers(6, MAX_T + 1, n)
    target = np.zeros(n, "float32")
    for i, T in enumerate(length):
        rate = rng.uniform(0.05, 0.95)
        calling = (rng.random(T) < rate).astype("float32")
        pitch = rng.normal(size=T)
        gain = rng.uniform(0.7, 1.3, size=T)
        src = np.stack([calling * gain, pitch, rng.normal(size=T)], 1)
        x[i, :T] = src @ mix + 0.2 * rng.normal(size=(T, DIM))
        target[i] = 10 * np.mean(calling * gain)
    return x, length.astype("int32"), target


class LevelNet(tf.Module):
    def __init__(self, width=48):
        super().__init__()
        self.frame1 = tf.keras.layers.Dense(width, activation="relu")
        self.frame2 = tf.keras.layers.Dense(width, activation="relu")
        self.head1 = tf.keras.layers.Dense(width, activation="relu")
        self.head2 = tf.keras.layers.Dense(1)
        for layer, size in ((self.frame1, DIM), (self.frame2, width), (self.head1, width), (self.head2, width)):
            layer.build((None, size))

    @property
    def params(self):
        return [v for l in (self.frame1, self.frame2, self.head1, self.head2) for v in l.trainable_variables]

    def __call__(self, x, length):
        h = self.frame2(self.frame1(x))
        keep = tf.cast(tf.sequence_mask(length, MAX_T), h.dtype)[:, :, None]
        pooled = tf.reduce_sum(h * keep, axis=1) / tf.reduce_sum(keep, axis=1)
        return self.head2(self.head1(pooled))[:, 0]


net = LevelNet()
opt = tf.keras.optimizers.Adam(2e-3)


@tf.function
def update(x, length, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(net(x, length) - y))
    grads = tape.gradient(loss, net.params)
    opt.apply_gradients(zip(grads, net.params))
    return loss


train = recordings(2000)
val = recordings(600)
batches = tf.data.Dataset.from_tensor_slices(train).shuffle(2000, seed=3).batch(50, drop_remainder=True)

for epoch in range(12):
    total = 0.0
    for b, (x, length, y) in enumerate(batches):
        total += float(update(x, length, y))
    p = net(tf.constant(val[0]), tf.constant(val[1])).numpy()
    err = p - val[2]
    r2 = 1 - np.sum(err**2) / np.sum((val[2] - val[2].mean()) ** 2)
    print(f"epoch {epoch:2d} train mse {total / (b + 1):.3f}  val mse {np.mean(err ** 2):.3f}  val R2 {r2:.3f}")
short = val[1] < 40
print("val mae, short recordings %.3f, long recordings %.3f" % (np.abs(err[short]).mean(), np.abs(err[~short]).mean()))
