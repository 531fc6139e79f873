import numpy as np
import tensorflow as tf


class EchoReservoir(tf.Module):
    """Fixed recurrent reservoir with a trained readout, for one-step prediction."""

    def __init__(self, units=120, radius=0.9, seed=0):
        super().__init__()
        g = np.random.default_rng(seed)
        w = g.normal(size=(units, units)) * (g.random((units, units)) < 0.1)
        w *= radius / np.max(np.abs(np.linalg.eigvals(w)))
        self.w = tf.Variable(w.astype("float32"), name="reservoir")
        self.w_in = tf.Variable(g.uniform(-0.5, 0.5, size=(1, units)).astype("float32"), name="input")
        self.bias = tf.Variable(g.uniform(-0.2, 0.2, size=(units,)).astype("float32"), name="shift")
        self.readout = tf.Variable(tf.zeros((units, 1)), name="readout")
        self.offset = tf.Variable(tf.zeros((1,)), name="offset")

    @tf.function
    def states(self, u):
        steps = tf.shape(u)[1]
        h = tf.zeros((tf.shape(u)[0], self.w.shape[0]))
        out = tf.TensorArray(tf.float32, size=steps)
        for t in tf.range(steps):
            h = tf.tanh(u[:, t] @ self.w_in + h @ self.w + self.bias)
            out = out.write(t, h)
        return tf.transpose(out.stack(), [1, 0, 2])

    def __call__(self, u):
        s = tf.stop_gradient(self.states(u))
        return tf.einsum("btu,uo->bto", s, self.readout) + self.offset


def mackey_glass(n, tau=17, seed=1):
    x = list(1.2 + 0.1 * np.random.default_rng(seed).normal(size=tau + 1))
    for _ in range(n + 300):
        past = x[-tau - 1]
        x.append(x[-1] + 0.2 * past / (1 + past ** 10) - 0.1 * x[-1])
    return np.array(x[-n:], dtype="float32")


def cut(series, length, horizon):
    starts = range(0, len(series) - length - horizon, length // 2)
    u = np.stack([series[s:s + length] for s in starts])[..., None]
    v = np.stack([series[s + horizon:s + length + horizon] for s in starts])[..., None]
    return u, v


def main(length=80, horizon=8, washout=30, accumulate=4, epochs=40):
    tf.random.set_seed(0)
    series = mackey_glass(6000)
    series = (series - series[:4500].mean()) / series[:4500].std()
    u, v = cut(series[:4500], length, horizon)
    u_test, v_test = cut(series[4500:], length, horizon)

    model = EchoReservoir()
    learned = [model.readout, model.offset]
    steps = epochs * (len(u) // (8 * accumulate))
    optimizer = tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(0.02, steps))
    data = tf.data.Dataset.from_tensor_slices((u, v)).shuffle(len(u), seed=3)
    data = data.batch(8, drop_remainder=True)

    for epoch in range(epochs):
        total, pending, count = [], None, 0
        for bu, bv in data:
            with tf.GradientTape() as tape:
                error = model(bu)[:, washout:] - bv[:, washout:]
                loss = tf.reduce_sum(tf.square(error)) / (8 * accumulate * (length - washout))
            grads = tape.gradient(loss, learned)
            pending = grads if pending is None else [a + b for a, b in zip(pending, grads)]
            count += 1
            total.append(float(loss) * accumulate)
            if count == accumulate:
                optimizer.apply_gradients(zip(pending, learned))
                pending, count = None, 0
        if epoch % 8 == 0 or epoch == epochs - 1:
            print(f"epoch {epoch:2d} mse {np.mean(total):.4f}")

    guess = model(u_test).numpy()[:, washout:]
    truth = v_test[:, washout:]
    print(f"test mse {np.mean((guess - truth) ** 2):.4f}")
    print(f"mse of repeating the last value {np.mean((u_test[:, washout:] - truth) ** 2):.4f}")
    print(f"variance {truth.var():.4f}")


if __name__ == "__main__":
    main()
