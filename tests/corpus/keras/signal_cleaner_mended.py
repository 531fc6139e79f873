"""Clean up short pulse recordings with a plain stack of equal-width layers.

Layers nearer to the output get a somewhat larger step (layer-wise step sizes).
"""
import keras
import numpy as np
import tensorflow as tf
from keras import layers

WIDTH = 48
DEPTH = 5
keras.utils.set_random_seed(8)


def pulses(n, seed):
    rng = np.random.default_rng(seed)
    grid = np.linspace(0, 1, WIDTH)
    clean = np.zeros((n, WIDTH))
    for _ in range(2):
        centre = rng.uniform(0.1, 0.9, (n, 1))
        width = rng.uniform(0.03, 0.1, (n, 1))
        clean += rng.uniform(-1, 1, (n, 1)) * np.exp(-((grid - centre) / width) ** 2)
    blur = np.exp(-((grid[:, None] - grid[None]) / 0.05) ** 2)
    blur /= blur.sum(1, keepdims=True)
    noisy = np.tanh(1.5 * clean @ blur.T) + rng.normal(0, 0.08, clean.shape)
    return noisy.astype("float32"), clean.astype("float32")


class Cleaner(keras.Model):
    def __init__(self):
        super().__init__()
        self.stack = [layers.Dense(WIDTH, activation="tanh" if i < DEPTH - 1 else None)
                      for i in range(DEPTH)]

    def call(self, x):
        for layer in self.stack:
            x = layer(x)
        return x


class Trainer:
    def __init__(self, model, lr=2e-3, decay=0.9):
        self.model = model
        self.optimizer = keras.optimizers.Adam(lr)
        top_down = list(reversed(model.stack))
        self.params = [v for layer in top_down for v in (layer.kernel, layer.bias)]
        self.factors = [decay ** depth for depth in range(len(top_down)) for _ in range(2)]
        self.optimizer.build(self.params)

    @tf.function
    def step(self, noisy, clean):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.model(noisy) - clean))
        wrt = [v for layer in reversed(self.model.stack) for v in (layer.kernel, layer.bias)]
        grads = tape.gradient(loss, wrt)
        grads, _ = tf.clip_by_global_norm(grads, 1.0)
        grads = [g * f for g, f in zip(grads, self.factors)]
        self.optimizer.apply_gradients(zip(grads, self.params))
        return loss

    def fit(self, ds, epochs):
        for epoch in range(epochs):
            mean = keras.metrics.Mean()
            for noisy, clean in ds:
                mean.update_state(self.step(noisy, clean))
            if epoch % 5 == 4:
                print(f"epoch {epoch + 1}: train mse {float(mean.result()):.5f}")


def main():
    train = pulses(4000, 0)
    noisy_test, clean_test = pulses(800, 1)
    ds = tf.data.Dataset.from_tensor_slices(train).shuffle(4000, seed=1).batch(64)

    model = Cleaner()
    model(noisy_test[:2])
    Trainer(model).fit(ds, epochs=25)

    mse = float(np.mean((model(noisy_test).numpy() - clean_test) ** 2))
    print(f"test mse            {mse:.5f}")
    print(f"mean-signal mse     {np.mean((train[1].mean(0) - clean_test) ** 2):.5f}")
    print(f"untouched-input mse {np.mean((noisy_test - clean_test) ** 2):.5f}")


if __name__ == "__main__":
    main()
