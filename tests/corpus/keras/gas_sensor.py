"""
Gas identification from an e-nose sensor array (6 gases, 16 sensors x 8 features).
Own loop in TensorFlow, because the lab's logger wants its hands on every step.
"""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)
N_GAS, N_FEAT = 6, 128


def simulate(n, prototypes, mixing, label_noise=0.0):
    gas = rng.integers(0, N_GAS, n)
    conc = rng.uniform(0.4, 1.6, (n, 1))
    latent = prototypes[gas] * conc + rng.normal(0, 0.9, (n, prototypes.shape[1]))
    x = np.tanh(latent @ mixing * 0.5) * 4 + rng.normal(0, 1.2, (n, N_FEAT))
    y = gas.copy()
    swap = rng.random(n) < label_noise
    y[swap] = rng.integers(0, N_GAS, swap.sum())
    return x.astype("float32"), y.astype("int32")


prototypes = rng.normal(0, 1.3, (N_GAS, 10))
mixing = rng.normal(0, 1, (10, N_FEAT)) / np.sqrt(10)
gain, offset = rng.uniform(0.5, 3, N_FEAT), rng.normal(0, 3, N_FEAT)
x_train, y_train = simulate(600, prototypes, mixing, label_noise=0.45)   # read off by students
x_val, y_val = simulate(500, prototypes, mixing)
x_test, y_test = simulate(1500, prototypes, mixing)
x_train, x_val, x_test = [(x * gain + offset).astype("float32") for x in (x_train, x_val, x_test)]


class Net:
    """Thin wrapper: a Keras graph, plus the mode it is run in."""

    def __init__(self, hidden=256, drop=0.75):
        self.body = keras.Sequential([keras.Input((N_FEAT,)), layers.BatchNormalization(momentum=0.9)])
        for _ in range(2):
            self.body.add(layers.Dense(hidden, use_bias=False))
            self.body.add(layers.BatchNormalization(momentum=0.9))
            self.body.add(layers.ReLU())
            self.body.add(layers.Dropout(drop))
        self.body.add(layers.Dense(N_GAS))
        self.training = True

    def train(self):
        self.training = True

    def eval(self):
        self.training = False

    def __call__(self, x):
        return self.body(x, training=self.training)

    @property
    def weights(self):
        return self.body.trainable_variables


class Runner:
    def __init__(self, net, lr=1e-3, batch=50):
        self.net, self.batch = net, batch
        self.opt = keras.optimizers.Adam(lr)
        self.ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.history = []

    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.ce(y, self.net(x))
        grads = tape.gradient(loss, self.net.weights)
        self.opt.apply_gradients(zip(grads, self.net.weights))
        return float(loss)

    def run_epoch(self, x, y):
        order = rng.permutation(len(x))
        losses = [self.step(x[i], y[i]) for i in np.split(order, len(x) // self.batch)]
        return np.mean(losses)

    def evaluate(self, x, y):
        self.net.eval()
        logits = self.net(x).numpy()
        return float(self.ce(y, logits)), float((logits.argmax(1) == y).mean())

    def fit(self, epochs):
        for epoch in range(1, epochs + 1):
            tr = self.run_epoch(x_train, y_train)
            vl, va = self.evaluate(x_val, y_val)
            self.history.append((tr, vl, va))
            if epoch == 1 or epoch % 5 == 0:
                print(f"epoch {epoch:02d} | train {tr:.3f} | val {vl:.3f} | val acc {va:.3f}")


runner = Runner(Net())
runner.fit(epochs=25)
loss, acc = runner.evaluate(x_test, y_test)
print(f"test: loss {loss:.3f}  accuracy {acc:.3f}  (largest class {np.bincount(y_test).max() / len(y_test):.3f})")
