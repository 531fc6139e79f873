"""Echo-state network: a fixed random recurrent pool, and only a linear readout is fitted."""
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(51)
rng = np.random.default_rng(51)


class Reservoir(keras.layers.Layer):
    def __init__(self, size, radius=0.9, leak=0.7, **kw):
        super().__init__(trainable=False, **kw)
        w = rng.normal(size=(size, size)) * (rng.random((size, size)) < 0.1)
        w *= radius / np.abs(np.linalg.eigvals(w)).max()
        self.size, self.leak = size, leak
        self.w = tf.constant(w, tf.float32)
        self.w_in = tf.constant(rng.uniform(-0.8, 0.8, size=(2, size)), tf.float32)

    def call(self, u):
        ones = tf.ones_like(u)
        drive = tf.concat([u, ones], axis=-1)
        state = tf.zeros((tf.shape(u)[0], self.size))
        outs = []
        for t in range(u.shape[1]):
            new = tf.tanh(drive[:, t] @ self.w_in + state @ self.w)
            state = (1 - self.leak) * state + self.leak * new
            outs.append(state)
        return tf.stack(outs, axis=1)


def narma(n, steps):
    u = rng.uniform(0, 0.5, size=(n, steps)).astype("float32")
    y = np.zeros((n, steps), "float32")
    for t in range(1, steps - 1):
        y[:, t + 1] = 0.4 * y[:, t] + 0.4 * y[:, t] * y[:, t - 1] + 0.6 * u[:, t] ** 3 + 0.1
    return u[..., None], y


WASHOUT = 15
u, y = narma(400, 60)
pool = Reservoir(120)
states = pool(u).numpy()[:, WASHOUT:]
goal = y[:, WASHOUT:]
flat = states[:320].reshape(-1, states.shape[-1])
mean = flat.mean(0)
values, axes = np.linalg.eigh(np.cov(flat - mean, rowvar=False))
states = (states - mean) @ axes / np.sqrt(values + 1e-7)

readout = keras.layers.Dense(1, kernel_initializer="zeros")
readout.build(states.shape)
readout.bias.assign([goal[:320].mean()])
opt = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 6000))
print("trainable in the pool:", len(pool.trainable_variables), " in the readout:", len(readout.trainable_variables))
train_s, train_y = tf.constant(states[:320], tf.float32), tf.constant(goal[:320])
test_s, test_y = tf.constant(states[320:], tf.float32), goal[320:]


@tf.function
def step():
    idx = tf.random.uniform((32,), 0, 320, tf.int32)
    with tf.GradientTape() as tape:
        err = readout(tf.gather(train_s, idx))[..., 0] - tf.gather(train_y, idx)
        loss = tf.reduce_mean(err ** 2)
    v = readout.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, v), v))
    return loss


for i in range(1, 6001):
    loss = step()
    if i % 1000 == 0:
        res = readout(test_s).numpy()[..., 0] - test_y
        print(f"step {i} loss {float(loss):.6f} test nrmse {np.sqrt((res ** 2).mean() / test_y.var()):.3f}")
