import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf


def mackey_glass(n, seed, tau=17):
    rng = np.random.default_rng(seed)
    x = list(1.2 + 0.2 * rng.normal(size=tau + 1))
    for _ in range((n + 200) * 1):
        x.append(x[-1] + 0.2 * x[-tau - 1] / (1 + x[-tau - 1] ** 10) - 0.1 * x[-1])
    return np.array(x[-n:], "float32")


class Reservoir(tf.Module):
    def __init__(self, units, radius, seed):
        super().__init__()
        rng = np.random.default_rng(seed)
        w = rng.normal(size=(units, units)) * (rng.random((units, units)) < 0.1)
        w *= radius / np.abs(np.linalg.eigvals(w)).max()
        self.w = tf.Variable(w.astype("float32"), trainable=False)
        self.w_in = tf.Variable(rng.uniform(-0.5, 0.5, size=(2, units)).astype("float32"), trainable=False)

    def __call__(self, series):
        state = np.zeros(self.w.shape[0], "float32")
        w, w_in = self.w.numpy(), self.w_in.numpy()
        states = []
        for value in series:
            state = np.tanh(state @ w + np.array([value, 1.0], "float32") @ w_in)
            states.append(state)
        return np.stack(states)


class EchoStateForecaster:
    def __init__(self, units=200, horizon=8):
        self.horizon = horizon
        self.reservoir = Reservoir(units, 0.95, seed=1)
        self.readout = keras.layers.Dense(1)
        self.readout.build((None, units))
        self.optimizer = keras.optimizers.Adam(
            keras.optimizers.schedules.CosineDecay(2e-2, decay_steps=1200)
        )

    def windows(self, series, washout=100):
        centred = series - 0.9
        states = self.reservoir(centred[: -self.horizon])
        return states[washout:], centred[self.horizon :][washout:, None]

    def fit(self, series, steps=1200):
        states, target = map(tf.constant, self.windows(series))

        @tf.function
        def step():
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(self.readout(states) - target))
            grads = tape.gradient(loss, self.readout.trainable_variables)
            self.optimizer.apply_gradients(zip(grads, self.readout.trainable_variables))
            return loss

        for i in range(steps):
            loss = step()
            if (i + 1) % 200 == 0:
                print(f"step {i + 1}  training mse {float(loss):.5f}")

    def score(self, series):
        states, target = self.windows(series)
        pred = self.readout(states).numpy()
        now = (series - 0.9)[: -self.horizon][100:, None]
        return np.sqrt(np.mean((pred - target) ** 2)), np.sqrt(np.mean((now - target) ** 2)), target.std()


def main():
    keras.utils.set_random_seed(1)
    model = EchoStateForecaster()
    model.fit(mackey_glass(2500, 1))
    rmse, persistence, spread = model.score(mackey_glass(1200, 2))
    print(f"rmse {rmse:.4f}  repeat-last {persistence:.4f}  standard deviation {spread:.4f}")


if __name__ == "__main__":
    main()
