import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import argparse
import numpy as np
import tensorflow as tf

ap = argparse.ArgumentParser(description="wear class of canal lock gates from 40 inspection figures")
ap.add_argument("--epochs", type=int, default=18)
ap.add_argument("--batch", type=int, default=64)
ap.add_argument("--drop", type=float, default=0.5)
args = ap.parse_args()

tf.keras.utils.set_random_seed(11)
rng = np.random.default_rng(11)
K, D = 8, 40
centres = rng.normal(0, 0.62, (K, D))
y = rng.integers(0, K, 2600)
x = (centres[y] + rng.normal(0, 1, (2600, D))).astype("float32")
x_tr, y_tr, x_va, y_va = x[:2000], y[:2000], x[2000:], y[2000:]
train_ds = tf.data.Dataset.from_tensor_slices((x_tr, y_tr)).shuffle(2000).batch(args.batch)
val_ds = tf.data.Dataset.from_tensor_slices((x_va, y_va)).batch(200)


class GateNet(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.d1 = tf.keras.layers.Dense(64, activation="relu")
        self.drop1 = tf.keras.layers.Dropout(args.drop)
        self.d2 = tf.keras.layers.Dense(32, activation="relu")
        self.drop2 = tf.keras.layers.Dropout(args.drop)
        self.out = tf.keras.layers.Dense(K)

    def call(self, x, training=False):
        x = self.drop1(self.d1(x), training=training)
        x = self.drop2(self.d2(x), training=training)
        return self.out(x)


net = GateNet()
opt = tf.keras.optimizers.Adam(3e-3)
ce = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
tr_loss, tr_acc = tf.keras.metrics.Mean(), tf.keras.metrics.SparseCategoricalAccuracy()
va_loss, va_acc = tf.keras.metrics.Mean(), tf.keras.metrics.SparseCategoricalAccuracy()


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        logits = net(xb, training=True)
        loss = ce(yb, logits)
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    tr_loss.update_state(loss)
    tr_acc.update_state(yb, logits)


@tf.function
def valid_step(xb, yb):
    logits = net(xb, training=True)
    loss = ce(yb, logits)
    va_loss.update_state(loss)
    va_acc.update_state(yb, logits)


for epoch in range(args.epochs):
    for m in (tr_loss, tr_acc, va_loss, va_acc):
        m.reset_state()
    for xb, yb in train_ds:
        train_step(xb, yb)
    for xb, yb in val_ds:
        valid_step(xb, yb)
    print(f"epoch {epoch + 1:2d} loss {float(tr_loss.result()):.3f} acc {float(tr_acc.result()):.3f} "
          f"val_loss {float(va_loss.result()):.3f} val_acc {float(va_acc.result()):.3f}")
