"""1-D ResNet for heart-beat types on synthetic single-lead ECG snippets."""
import logging
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
import keras
from keras import layers

logging.basicConfig(format="%(asctime)s %(message)s", datefmt="%H:%M:%S", level=logging.INFO)
log = logging.getLogger("ecg")

BEATS = ["normal", "lbbb", "rbbb", "pvc", "apb"]
FS, LENGTH = 100, 120


@dataclass
class Config:
    n_train: int = 2000
    n_test: int = 800
    epochs: int = 12
    batch: int = 32
    lr: float = 4e-3
    decay: float = 0.82
    seed: int = 31


def bump(t, centre, width, height):
    return height * np.exp(-.5 * ((t - centre) / width) ** 2)


def beat(kind, rng):
    """P, Q, R, S and T waves as bumps; the beat type changes some of them."""
    t = np.arange(LENGTH) / FS
    r = .55 + rng.normal(0, .06)
    qrs = .022 * rng.uniform(.7, 1.45)
    p_h, p_d, t_h, amp = .16, .17, .30, rng.uniform(.8, 1.3)
    sig = np.zeros(LENGTH)
    if kind == 1:
        sig += bump(t, r + .045, qrs * 1.3, .35) - bump(t, r + .09, .03, .10)
        qrs, t_h = qrs * 1.5, -.12
    elif kind == 2:
        sig += bump(t, r + .06, qrs, .40) - bump(t, r + .03, .012, .25)
    elif kind == 3:
        qrs, p_h, t_h = qrs * 2.2, .02, -.28
    elif kind == 4:
        p_h, p_d = .13, .115
    sig += bump(t, r - p_d, .022, p_h) - bump(t, r - .035, .012, .12) + bump(t, r, qrs, 1.0)
    sig += -bump(t, r + .035, .014, .22) + bump(t, r + .26, .05, t_h)
    wander = .15 * np.sin(2 * np.pi * rng.uniform(.2, .5) * t + rng.uniform(0, 6.3))
    return amp * sig + wander + rng.normal(0, .11, LENGTH)


def make_data(n, rng):
    y = rng.integers(0, len(BEATS), n)
    x = np.stack([beat(k, rng) for k in y])
    return x[..., None].astype("float32"), y.astype("int32")


def residual(x, filters, stride):
    y = layers.Conv1D(filters, 7, strides=stride, padding="same", use_bias=False)(x)
    y = layers.LayerNormalization()(y)
    y = layers.ReLU()(y)
    y = layers.Conv1D(filters, 5, padding="same")(y)
    if stride > 1 or x.shape[-1] != filters:
        x = layers.Conv1D(filters, 1, strides=stride, padding="same")(x)
    return layers.ReLU()(layers.Add()([x, y]))


def make_net():
    inp = keras.Input((LENGTH, 1))
    h = residual(inp, 16, 2)
    h = residual(h, 24, 2)
    h = residual(h, 32, 2)
    return keras.Model(inp, layers.Dense(len(BEATS))(layers.GlobalAveragePooling1D()(h)))


class ExponentialLR:
    """lr <- lr * gamma at every call of step()."""

    def __init__(self, optimizer, gamma):
        self.optimizer, self.gamma = optimizer, gamma

    def step(self):
        lr = float(self.optimizer.learning_rate.numpy())
        self.optimizer.learning_rate.assign(lr * self.gamma)


def main(cfg=Config()):
    keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    x, y = make_data(cfg.n_train, rng)
    x_te, y_te = make_data(cfg.n_test, rng)
    net = make_net()
    opt = keras.optimizers.Adam(cfg.lr)
    scheduler = ExponentialLR(opt, gamma=cfg.decay)
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def train_step(xb, yb):
        with tf.GradientTape() as tape:
            loss = loss_fn(yb, net(xb, training=True))
        grads = tape.gradient(loss, net.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 2.0)
        opt.apply_gradients(zip(grads, net.trainable_variables))
        return loss

    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(cfg.n_train, seed=cfg.seed)
    ds = ds.batch(cfg.batch, drop_remainder=True).prefetch(2)
    for epoch in range(cfg.epochs):
        mean = keras.metrics.Mean()
        for xb, yb in ds:
            mean.update_state(train_step(xb, yb))
        scheduler.step()
        log.info("epoch %2d  loss %.4f  lr %.2e", epoch + 1, float(mean.result()),
                 float(opt.learning_rate.numpy()))

    pred = net.predict(x_te, batch_size=200, verbose=0).argmax(1)
    for k, name in enumerate(BEATS):
        log.info("  recall %-7s %.3f", name, np.mean(pred[y_te == k] == k))
    log.info("test accuracy %.3f (chance %.3f)", np.mean(pred == y_te),
             np.bincount(y_te).max() / len(y_te))


if __name__ == "__main__":
    main()
