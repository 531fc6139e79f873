"""Pose of a little person (always facing the camera) from clips of three noisy frames."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf

SIDE, T = 24, 3
NAMES = ["head", "l_hand", "r_hand", "l_foot", "r_foot"]
SWAP = [0, 2, 1, 4, 3]


def segment(img, p, q, width=1.0):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    d = q - p
    t = np.clip(((xx - p[0]) * d[0] + (yy - p[1]) * d[1]) / (d @ d + 1e-6), 0, 1)
    dist = np.hypot(xx - p[0] - t * d[0], yy - p[1] - t * d[1])
    np.maximum(img, np.clip(width - dist + 0.5, 0, 1), out=img)


def clip(rng):
    base = np.array([rng.uniform(10, 14), rng.uniform(9, 12)])
    # the person's left side is on the right of the picture
    ang = np.array([rng.uniform(-1.2, 1.2), np.pi - rng.uniform(-1.2, 1.2), rng.uniform(0.9, 1.5), rng.uniform(1.65, 2.3)])
    vel = rng.normal(0, 0.12, 4)
    frames = np.zeros((T, SIDE, SIDE, 1), "float32")
    for t in range(T):
        a = ang + (t - 1) * vel
        head, hip = base + [0, -5], base + [0, 4]
        ends = [base + 6.5 * np.array([np.cos(k), np.sin(k)]) for k in a[:2]]
        ends += [hip + 6.5 * np.array([np.cos(k), np.sin(k)]) for k in a[2:]]
        im = np.zeros((SIDE, SIDE))
        segment(im, head, hip)
        segment(im, head, head + 0.1, 2.2)
        for j, e in enumerate(ends):
            segment(im, base if j < 2 else hip, e)
        frames[t, ..., 0] = im + rng.normal(0, 0.25, im.shape)
        if t == 1:
            pts = np.stack([head] + ends)
    return frames, (pts / (SIDE - 1)).astype("float32")


def dataset(n, seed):
    rng = np.random.default_rng(seed)
    x, y = zip(*[clip(rng) for _ in range(n)])
    return np.stack(x), np.stack(y)


class ClipPose(keras.Model):
    def __init__(self, mean_pose):
        super().__init__()
        self.eye = keras.Sequential([
            keras.layers.Conv2D(16, 3, padding="same", activation="relu"),
            keras.layers.Conv2D(24, 3, strides=2, padding="same", activation="relu"),
            keras.layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
            keras.layers.Flatten(), keras.layers.Dense(64, activation="relu")])
        self.mix = keras.layers.Dense(64, activation="relu")
        self.out = keras.layers.Dense(10, kernel_initializer="zeros",
                                      bias_initializer=keras.initializers.Constant(mean_pose.reshape(-1)))
        self.loss_avg = keras.metrics.Mean(name="loss")
        self.err = keras.metrics.Mean(name="px")

    def call(self, x, training=None):
        b = tf.shape(x)[0]
        f = self.eye(tf.reshape(x, (b * T, SIDE, SIDE, 1)), training=training)
        f = tf.reshape(f, (b, T * 64))
        return tf.reshape(self.out(self.mix(f)), (b, 5, 2))

    def mirror(self, x, y):
        yes = tf.random.uniform((tf.shape(x)[0],)) < 0.5
        x = tf.where(yes[:, None, None, None, None], x[:, :, :, ::-1], x)
        other = tf.gather(y, SWAP, axis=1)
        other = tf.stack([1.0 - other[..., 0], other[..., 1]], -1)
        return x, tf.where(yes[:, None, None], other, y)

    def train_step(self, data):
        x, y = self.mirror(*data)
        with tf.GradientTape() as tape:
            p = self(x, training=True)
            loss = tf.reduce_mean(tf.sqrt(tf.reduce_sum((p - y) ** 2, -1) + 1e-6))
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        self.loss_avg.update_state(loss)
        self.err.update_state((SIDE - 1) * tf.norm(p - y, axis=-1))
        return {"loss": self.loss_avg.result(), "px": self.err.result()}

    def test_step(self, data):
        x, y = data
        p = self(x, training=False)
        self.loss_avg.update_state(tf.reduce_mean(tf.norm(p - y, axis=-1)))
        self.err.update_state((SIDE - 1) * tf.norm(p - y, axis=-1))
        return {"loss": self.loss_avg.result(), "px": self.err.result()}

    @property
    def metrics(self):
        return [self.loss_avg, self.err]


def main():
    keras.utils.set_random_seed(2)
    x, y = dataset(900, 0)
    xv, yv = dataset(250, 1)
    model = ClipPose(y.mean(0))
    epochs = 16
    sched = keras.optimizers.schedules.CosineDecay(3e-3, epochs * (len(x) // 30))
    model.compile(optimizer=keras.optimizers.Nadam(sched))
    model.fit(x, y, batch_size=30, epochs=epochs, validation_data=(xv, yv), verbose=2)
    res = model.evaluate(xv, yv, verbose=0, return_dict=True)
    per = (SIDE - 1) * np.linalg.norm(model.predict(xv, verbose=0) - yv, axis=-1).mean(0)
    print({n: round(float(v), 2) for n, v in zip(NAMES, per)})
    base = (SIDE - 1) * np.linalg.norm(y.mean(0) - yv, axis=-1).mean()
    print(f"held-out error {res['px']:.2f} px, mean pose {base:.2f} px")


if __name__ == "__main__":
    main()
