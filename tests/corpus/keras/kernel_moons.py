"""Random Fourier features with a linear read-out (Rahimi & Recht) on a two-spirals problem."""
import numpy as np
import keras
from keras import layers, ops

keras.utils.set_random_seed(1)


def spirals(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    r = rng.uniform(0.3, 3.0, n)
    a = 2.2 * r + np.pi * y
    x = np.stack([r * np.cos(a), r * np.sin(a)], 1) + rng.normal(0, 0.1, (n, 2))
    return x.astype("float32"), y.astype("float32")


class RandomFourier(layers.Layer):
    """The projection is drawn once and stays as drawn: only the read-out is fitted."""

    def __init__(self, n_features, gamma, **kw):
        super().__init__(trainable=False, **kw)
        self.n_features, self.gamma = n_features, gamma

    def build(self, shape):
        self.w = self.add_weight(
            shape=(shape[-1], self.n_features),
            initializer=keras.initializers.RandomNormal(stddev=(2 * self.gamma) ** 0.5),
            trainable=False, name="w")
        self.b = self.add_weight(
            shape=(self.n_features,),
            initializer=keras.initializers.RandomUniform(0, 2 * np.pi),
            trainable=False, name="b")

    def call(self, x):
        return ops.cos(ops.matmul(x, self.w) + self.b) * (2.0 / self.n_features) ** 0.5

    def compute_output_shape(self, shape):
        return (*shape[:-1], self.n_features)


x, y = spirals(1500, 0)
xt, yt = spirals(600, 1)
t = 2 * y - 1  # hinge-type targets in {-1, +1}

model = keras.Sequential([
    keras.Input((2,)),
    RandomFourier(400, gamma=3.0),
    layers.Dense(1, kernel_initializer="zeros", kernel_regularizer=keras.regularizers.L2(1e-6)),
])
print("trainable", sum(int(np.prod(v.shape)) for v in model.trainable_variables),
      "of", model.count_params())


def margin_accuracy(y_true, y_pred):
    return ops.mean(ops.cast(ops.equal(ops.sign(y_pred), y_true), "float32"))


# The features have norm 1, so the quadratic-ish problem tolerates a rate far above the usual.
steps = 40 * (len(x) // 50)
model.compile(
    optimizer=keras.optimizers.SGD(
        keras.optimizers.schedules.PolynomialDecay(3.0, steps, 0.3), momentum=0.8),
    loss="squared_hinge",
    metrics=[margin_accuracy],
)
hist = model.fit(x, t[:, None], epochs=40, batch_size=50, verbose=0)
for e in range(0, 40, 6):
    print(f"epoch {e + 1:2d} loss {hist.history['loss'][e]:.4f} acc {hist.history['margin_accuracy'][e]:.3f}")

score = model.predict(xt, verbose=0)[:, 0]
acc = np.mean((score > 0) == (yt > 0.5))
A = np.c_[x, np.ones(len(x))]
w = np.linalg.lstsq(A, t, rcond=None)[0]
lin = np.mean((np.c_[xt, np.ones(len(xt))] @ w > 0) == (yt > 0.5))
print(f"held-out accuracy {acc:.3f}   linear model {lin:.3f}")
