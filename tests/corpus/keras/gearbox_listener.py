import numpy as np
import tensorflow as tf
import keras
from keras import layers

CONFIG = {
    "classes": 6,
    "bins": 80,
    "micro_batch": 16,
    "accumulate": 4,
    "epochs": 12,
    "lr": 0.05,
    "seed": 13,
}

keras.utils.set_random_seed(CONFIG["seed"])
rng = np.random.default_rng(CONFIG["seed"])
tooth = rng.uniform(6, 30, CONFIG["classes"])
side = rng.uniform(2, 6, CONFIG["classes"])


def record(n):
    y = rng.integers(0, CONFIG["classes"], n)
    f = np.arange(CONFIG["bins"])[None, :]
    amp = 900.0 / (1 + f / 15.0) * (0.7 + 0.6 * rng.random((n, CONFIG["bins"])))
    for k in (1, 2):
        centre = (k * tooth[y] + rng.normal(0, 0.4, n))[:, None]
        amp = amp + 300 / k * np.exp(-0.5 * ((f - centre) / 1.2) ** 2)
        amp = amp + 200 / k * np.exp(-0.5 * ((f - centre - side[y][:, None]) / 1.2) ** 2)
    power = amp ** 2
    return power.astype("float32"), y.astype("int32")


class GearboxNet(keras.Model):
    def __init__(self, classes):
        super().__init__()
        self.h1 = layers.Dense(64, activation="relu")
        self.h2 = layers.Dense(32, activation="relu")
        self.out = layers.Dense(classes)

    def call(self, x, training=False):
        return self.out(self.h2(self.h1(x)))


class AccumulatingTrainer:
    def __init__(self, net, lr, every):
        self.net = net
        self.every = every
        self.opt = keras.optimizers.SGD(lr, momentum=0.9)
        self.opt.build(net.trainable_variables)
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.buffer = [tf.Variable(tf.zeros_like(v), trainable=False) for v in net.trainable_variables]

    @tf.function
    def micro(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss_fn(y, self.net(x, training=True))
        for b, g in zip(self.buffer, tape.gradient(loss, self.net.trainable_variables)):
            b.assign_add(g / self.every)
        return loss

    @tf.function
    def apply(self):
        self.opt.apply_gradients(zip([b.read_value() for b in self.buffer], self.net.trainable_variables))
        for b in self.buffer:
            b.assign(tf.zeros_like(b))

    def fit(self, ds, epochs):
        for epoch in range(epochs):
            losses = []
            for i, (x, y) in enumerate(ds, start=1):
                losses.append(float(self.micro(x, y)))
                if i % self.every == 0:
                    self.apply()
            if epoch % 3 == 2:
                print(f"epoch {epoch + 1} loss {np.mean(losses):.4f}")


x_tr, y_tr = record(2048)
x_te, y_te = record(800)
ds = tf.data.Dataset.from_tensor_slices((x_tr, y_tr)).shuffle(2048, seed=1)
ds = ds.batch(CONFIG["micro_batch"], drop_remainder=True)

net = GearboxNet(CONFIG["classes"])
net(x_tr[:2])
AccumulatingTrainer(net, CONFIG["lr"], CONFIG["accumulate"]).fit(ds, CONFIG["epochs"])

logits = net(x_te).numpy()
acc = (logits.argmax(1) == y_te).mean()
nll = float(keras.losses.SparseCategoricalCrossentropy(from_logits=True)(y_te, logits))
print(f"test accuracy {acc:.3f}  test loss {nll:.4f}  chance {1 / CONFIG['classes']:.3f}")
