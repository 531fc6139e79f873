"""Motor claims: severity band (0-3) from policy and accident fields."""
from dataclasses import dataclass, field

import numpy as np
import tensorflow as tf
from tensorflow import keras


@dataclass
class Config:
    hidden: list = field(default_factory=lambda: [64, 32])
    lr: float = 2e-3
    weight_decay: float = 1e-5
    batch_size: int = 64
    epochs: int = 15
    seed: int = 17


def load(cfg):
    rng = np.random.default_rng(cfg.seed)
    n = 5000
    speed = rng.gamma(4, 12, n)
    age = rng.uniform(18, 85, n)
    car_value = rng.lognormal(9.3, 0.6, n)
    airbags = rng.integers(0, 9, n)
    angle = rng.uniform(0, np.pi, n)
    night = rng.integers(0, 2, n)
    score = (speed / 50) * (1.3 + np.cos(angle)) + 0.7 * np.log(car_value / 1e4) - 0.12 * airbags + 0.4 * night
    score += 0.02 * np.abs(age - 45) + rng.normal(0, 0.1, n)
    band = np.digitize(score, np.quantile(score, [0.25, 0.5, 0.75]))
    x = np.stack([speed, age, np.log(car_value), airbags, np.cos(angle), night], 1)
    x_tr, x_te = x[:4000], x[4000:]
    mu, sd = x_tr.mean(0), x_tr.std(0)
    pack = lambda a: ((a - mu) / sd).astype("float32")
    return (pack(x_tr), band[:4000].astype("int32")), (pack(x_te), band[4000:].astype("int32"))


class SeverityTrainer:
    def __init__(self, cfg):
        self.cfg = cfg
        stack = [keras.layers.Dense(h, activation="relu") for h in cfg.hidden]
        self.model = keras.Sequential(stack + [keras.layers.Dense(4)])
        self.opt = keras.optimizers.Adam(cfg.lr)
        self.ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def penalty(self):
        kernels = [v for v in self.model.trainable_variables if len(v.shape) == 2]
        return self.cfg.weight_decay * tf.add_n([tf.nn.l2_loss(v.value) for v in kernels])

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            data_loss = self.ce(y, self.model(x, training=True))
            loss = data_loss + self.penalty()
        variables = self.model.trainable_variables
        self.opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return data_loss

    def evaluate(self, x, y):
        return float((self.model(x).numpy().argmax(1) == y).mean())

    def run(self):
        (x, y), (xt, yt) = load(self.cfg)
        self.model.build((None, x.shape[1]))
        self.opt.build(self.model.trainable_variables)
        ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(4000, seed=self.cfg.seed).batch(self.cfg.batch_size)
        for epoch in range(self.cfg.epochs):
            losses = [self.step(a, b).numpy() for a, b in ds]
            print(f"epoch {epoch:2d}  ce {np.mean(losses):.4f}  train acc {self.evaluate(x, y):.3f}  test acc {self.evaluate(xt, yt):.3f}")


if __name__ == "__main__":
    cfg = Config()
    keras.utils.set_random_seed(cfg.seed)
    SeverityTrainer(cfg).run()
