"""Unlabelled sensor bursts: an online net learns to predict a slow moving copy of itself; then a probe."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(23)
rng = np.random.default_rng(23)
T = 48
grid = np.arange(T)


def bursts(n):
    y = rng.integers(0, 4, n)
    freq = np.array([2, 4, 7, 11])[y] + rng.uniform(-0.4, 0.4, n)
    wave = np.sin(2 * np.pi * freq[:, None] * grid / T + rng.uniform(0, 6.28, (n, 1)))
    return (wave + rng.normal(0, 0.3, wave.shape)).astype("float32"), y.astype("int32")


def view(x):
    x = np.stack([np.roll(r, rng.integers(T)) for r in x])
    x = x * rng.uniform(0.7, 1.3, (len(x), 1)) + rng.normal(0, 0.2, x.shape)
    return tf.constant(x.astype("float32")[..., None])


def tower():
    return keras.Sequential([layers.Input((T, 1)), layers.Conv1D(24, 9, padding="same", activation="relu"),
                             layers.Conv1D(32, 5, strides=2, activation="relu"),
                             layers.GlobalAveragePooling1D(), layers.Dense(32), layers.BatchNormalization()])


online, slow = tower(), tower()
slow.set_weights(online.get_weights())
predictor = keras.Sequential([layers.Input((32,)), layers.Dense(64, activation="relu"), layers.Dense(32)])
probe = keras.Sequential([layers.Input((32,)), layers.Dense(4)])
opt_body = keras.optimizers.AdamW(1e-3, weight_decay=1e-4)
opt_pred = keras.optimizers.Adam(5e-3)
opt_probe = keras.optimizers.SGD(0.5)
DECAY = 0.98


@tf.function
def step(a, b, y, labelled):
    with tf.GradientTape() as tape:
        za, zb = online(a, training=True), online(b, training=True)
        ta, tb = slow(a, training=True), slow(b, training=True)
        sim = lambda p, t: tf.reduce_sum(tf.nn.l2_normalize(p, 1) * tf.nn.l2_normalize(tf.stop_gradient(t), 1), 1)
        agree = 2 - tf.reduce_mean(sim(predictor(za), tb) + sim(predictor(zb), ta))
        # the probe only reads the features: it must not shape them
        logits = probe(tf.stop_gradient(za))
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
        read = tf.reduce_sum(ce * labelled) / tf.maximum(tf.reduce_sum(labelled), 1.0)
        loss = agree + read
    groups = [online.trainable_variables, predictor.trainable_variables, probe.trainable_variables]
    for opt, vs, gs in zip([opt_body, opt_pred, opt_probe], groups, tape.gradient(loss, groups)):
        opt.apply_gradients(zip(gs, vs))
    for s, o in zip(slow.trainable_variables, online.trainable_variables):
        s.assign(DECAY * s + (1 - DECAY) * o)
    return agree, read


for opt, m in [(opt_body, online), (opt_pred, predictor), (opt_probe, probe)]:
    opt.build(m.trainable_variables)
x, y = bursts(3000)
xv, yv = bursts(600)
has_label = (rng.random(len(x)) < 0.2).astype("float32")
for epoch in range(12):
    order = rng.permutation(len(x))
    log = []
    for i in range(0, len(x), 100):
        k = order[i:i + 100]
        log.append([float(v) for v in step(view(x[k]), view(x[k]), tf.constant(y[k]), tf.constant(has_label[k]))])
    guess = probe(online(xv[..., None], training=False)).numpy().argmax(1)
    a, r = np.mean(log, 0)
    if epoch % 2:
        print(f"epoch {epoch + 1} agreement {a:.4f} probe loss {r:.4f} probe accuracy {np.mean(guess == yv):.3f}")
