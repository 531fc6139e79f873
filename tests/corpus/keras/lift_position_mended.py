"""Follow a lift from its motor pulses; each ride starts on the ground floor."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras

RIDE = 24
UNITS = 32
BATCH = 50


def rides(n, seed):
    r = np.random.default_rng(seed)
    code = r.integers(0, 4, (n, RIDE))
    move = np.choose(code, [0.0, 0.5, -0.5, 1.0])
    floor = np.zeros((n, RIDE))
    pos = np.zeros(n)
    for t in range(RIDE):
        pos = np.clip(pos + move[:, t], -2, 4)
        floor[:, t] = pos
    return np.eye(4, dtype="float32")[code], floor.astype("float32") / 2


class Tracker(tf.Module):
    def __init__(self):
        super().__init__()
        self.cell = keras.layers.GRUCell(UNITS)
        self.head = keras.layers.Dense(1)
        self.cell.build((None, 4))
        self.head.build((None, UNITS))

    @property
    def weights(self):
        return self.cell.trainable_variables + self.head.trainable_variables

    def start(self, n):
        return tf.zeros((n, UNITS))

    def __call__(self, x, h):
        outs = []
        for t in range(RIDE):
            o, (h,) = self.cell(x[:, t], [h])
            outs.append(self.head(o)[:, 0])
        return tf.stack(outs, 1), h


def main():
    keras.utils.set_random_seed(4)
    x, y = rides(3000, 1)
    xv, yv = rides(500, 2)
    net = Tracker()
    opt = keras.optimizers.Adam(4e-3)

    @tf.function
    def train_step(xb, yb, h):
        with tf.GradientTape() as tape:
            out, h = net(xb, h)
            loss = tf.reduce_mean(tf.square(out - yb))
        grads = tape.gradient(loss, net.weights)
        grads, _ = tf.clip_by_global_norm(grads, 1.0)
        opt.apply_gradients(zip(grads, net.weights))
        return loss, h

    @tf.function
    def valid(xb, yb):
        out, _ = net(xb, net.start(tf.shape(xb)[0]))
        return tf.reduce_mean(tf.square(out - yb))

    rng = np.random.default_rng(0)
    h = net.start(BATCH)
    for epoch in range(15):
        order = rng.permutation(len(x))
        total = 0.0
        for i in range(0, len(x), BATCH):
            idx = order[i:i + BATCH]
            loss, h = train_step(tf.constant(x[idx]), tf.constant(y[idx]), net.start(BATCH))
            total += float(loss)
        if epoch % 3 == 2:
            print(f"epoch {epoch + 1} train mse {total / (len(x) // BATCH):.4f} "
                  f"valid mse {float(valid(xv, yv)):.4f} (variance {yv.var():.4f})")


if __name__ == "__main__":
    main()
