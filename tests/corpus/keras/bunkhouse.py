"""Snore sounds of hikers, one class per minibatch (recordings lie in one file per class), gradients summed over a round of classes."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(31)
rng = np.random.default_rng(31)
CLASSES, PER, D = 5, 300, 24
proto = rng.normal(0, 0.9, (CLASSES, D))
files = [(proto[k] + rng.normal(0, 1, (PER, D))).astype("float32") for k in range(CLASSES)]
train_files, test_files = [f[:240] for f in files], [f[240:] for f in files]
x_test = np.concatenate(test_files)
y_test = np.repeat(np.arange(CLASSES), 60)

net = tf.keras.Sequential([
    tf.keras.Input((D,)),
    tf.keras.layers.Dense(32, activation="relu"),
    tf.keras.layers.LayerNormalization(),
    tf.keras.layers.Dense(CLASSES),
])
opt = tf.keras.optimizers.SGD(0.05, momentum=0.9)
ce = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="sum")
bank = [tf.Variable(tf.zeros_like(v), trainable=False) for v in net.trainable_variables]


@tf.function
def accumulate(xb, k):
    yb = tf.fill([tf.shape(xb)[0]], k)
    with tf.GradientTape() as tape:
        loss = ce(yb, net(xb, training=True))
    for b, g in zip(bank, tape.gradient(loss, net.trainable_variables)):
        b.assign_add(g)
    return loss


@tf.function
def apply_round(n):
    opt.apply_gradients((b / n, v) for b, v in zip(bank, net.trainable_variables))
    for b in bank:
        b.assign(tf.zeros_like(b))


MB = 12
for epoch in range(10):
    for f in train_files:
        rng.shuffle(f)
    total = 0.0
    for start in range(0, 240, MB):
        for k, f in enumerate(train_files):
            total += float(accumulate(tf.constant(f[start:start + MB]), tf.constant(k)))
        apply_round(tf.constant(float(MB * CLASSES)))
    acc = (net(x_test, training=False).numpy().argmax(1) == y_test).mean()
    print(f"epoch {epoch + 1:2d} loss per clip {total / (240 * CLASSES):.3f} test accuracy {acc:.3f}")
