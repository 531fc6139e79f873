"""How serious was an alarm burst, on average? Codes in, one severity out."""
import numpy as np
import tensorflow as tf
import keras


class Bursts:
    PAD = 0

    def __init__(self, n_codes=80, longest=60, seed=0):
        self.rng = np.random.default_rng(seed)
        self.n_codes, self.longest = n_codes, longest
        self.weight = self.rng.normal(size=n_codes + 1) * 2.0

    def draw(self, n):
        codes = np.full((n, self.longest), self.PAD, "int32")
        y = np.zeros(n, "float32")
        for i in range(n):
            k = int(np.exp(self.rng.uniform(np.log(2), np.log(self.longest))))
            # bursts come from one part of the plant, so their codes are alike
            centre = self.rng.integers(1, self.n_codes + 1)
            near = np.argsort(np.abs(self.weight[1:] - self.weight[centre]))[:15] + 1
            codes[i, :k] = self.rng.choice(near, size=k)
            y[i] = self.weight[codes[i, :k]].mean()
        return codes, y


class SeverityNet(keras.Model):
    def __init__(self, n_codes):
        super().__init__()
        self.embed = keras.layers.Embedding(n_codes + 1, 16)
        self.step = keras.layers.Dense(16, activation="gelu")
        self.out = keras.layers.Dense(1)

    def call(self, codes):
        h = self.step(self.embed(codes))
        pooled = tf.reduce_mean(h, axis=1)
        return self.out(pooled)


def main():
    keras.utils.set_random_seed(21)
    bursts = Bursts()
    x, y = bursts.draw(5000)
    xv, yv = bursts.draw(800)
    net = SeverityNet(bursts.n_codes)
    net.compile(optimizer=keras.optimizers.Adam(4e-3), loss="mse")
    net.fit(x, y, validation_data=(xv, yv), epochs=20, batch_size=64, verbose=2)
    err = net.predict(xv, verbose=0)[:, 0] - yv
    length = (xv != Bursts.PAD).sum(1)
    for lo, hi in ((1, 8), (8, 25), (25, 61)):
        m = (length >= lo) & (length < hi)
        print(f"bursts of {lo}-{hi - 1}: rmse {np.sqrt(np.mean(err[m] ** 2)):.3f}")
    print(f"r2 {1 - np.mean(err ** 2) / yv.var():.3f}")


if __name__ == "__main__":
    main()
