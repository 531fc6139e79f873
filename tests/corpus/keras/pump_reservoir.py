# Pump condition from vibration snippets with a fixed random recurrent layer; only the read-out learns.
import numpy as np
import tensorflow as tf
import keras
from keras import layers, ops

keras.utils.set_random_seed(30)
STATES = ["ok", "imbalance", "bearing", "cavitation"]
LEN = 80


def snippets(n, seed):
    r = np.random.default_rng(seed)
    t = np.arange(LEN) / 100.0
    y = r.choice(4, n, p=[0.55, 0.2, 0.15, 0.1])
    x = np.zeros((n, LEN))
    for i, s in enumerate(y):
        f, ph = r.uniform(4.5, 5.5), r.uniform(0, 2 * np.pi)
        sig = np.sin(2 * np.pi * f * t + ph)
        if s == 1:
            sig += 0.8 * np.sin(4 * np.pi * f * t + 2 * ph + 0.4)
        elif s == 2:
            hits = (np.sin(2 * np.pi * 3.1 * f * t + ph) > 0.93)
            sig += 1.3 * hits * r.choice([-1, 1], LEN)
        elif s == 3:
            sig += r.normal(0, 0.55, LEN) * (1 + np.sin(2 * np.pi * 2 * t + r.uniform(0, 6)))
        x[i] = sig * r.uniform(0.8, 1.2) + r.normal(0, 0.2, LEN)
    return x[..., None].astype("float32"), y


class Reservoir(layers.Layer):
    """Leaky echo-state units; weights are drawn once and stay as they are."""

    def __init__(self, units=120, radius=0.9, leak=0.5, **kw):
        super().__init__(trainable=False, **kw)
        self.units, self.radius, self.leak = units, radius, leak

    def build(self, shape):
        r = np.random.default_rng(0)
        w = r.normal(size=(self.units, self.units)) * (r.random((self.units, self.units)) < 0.1)
        w *= self.radius / np.abs(np.linalg.eigvals(w)).max()
        w_in = r.uniform(-0.8, 0.8, (shape[-1], self.units))
        const = keras.initializers.Constant
        self.w = self.add_weight(shape=w.shape, initializer=const(w), trainable=False, name="w")
        self.w_in = self.add_weight(shape=w_in.shape, initializer=const(w_in), trainable=False, name="w_in")

    def call(self, x):
        state = ops.zeros((ops.shape(x)[0], self.units))
        total = sq = move = state
        for t in range(x.shape[1]):
            new = ops.tanh(ops.matmul(x[:, t], self.w_in) + ops.matmul(state, self.w))
            new = (1 - self.leak) * state + self.leak * new
            move = move + ops.square(new - state)
            state = new
            total, sq = total + state, sq + ops.square(state)
        n = x.shape[1]
        mean = total / n
        return ops.concatenate([mean, ops.sqrt(sq / n - ops.square(mean) + 1e-6), ops.sqrt(move / n + 1e-6)], -1)


x_tr, y_tr = snippets(2000, 1)
x_va, y_va = snippets(500, 2)
x_te, y_te = snippets(900, 3)

inp = layers.Input((LEN, 1))
feat = Reservoir(name="reservoir")(inp)
feat = layers.BatchNormalization(momentum=0.8, center=False, scale=False, name="standardise")(feat)
out = layers.Dense(4, kernel_initializer="zeros", kernel_regularizer=keras.regularizers.L2(1e-4))(feat)
model = keras.Model(inp, out)

share = np.bincount(y_tr) / len(y_tr)
weights = {k: float((share[k] * 4) ** -0.5) for k in range(4)}
model.compile(optimizer=keras.optimizers.SGD(0.5),
              loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
              metrics=["accuracy"], weighted_metrics=[])
n_train = sum(int(np.prod(v.shape)) for v in model.trainable_variables)
print(f"{n_train} of {model.count_params()} parameters learn; class weights",
      {STATES[k]: round(v, 2) for k, v in weights.items()})


def step_lr(epoch, lr):
    return 0.5 if epoch < 6 else 0.15 if epoch < 10 else 0.04


hist = model.fit(x_tr, y_tr, validation_data=(x_va, y_va), batch_size=160, epochs=14, verbose=0,
                 class_weight=weights, callbacks=[keras.callbacks.LearningRateScheduler(step_lr)])
for e in (0, 3, 6, 9, 13):
    print(f"epoch {e + 1:2d}: " + "  ".join(f"{k} {v[e]:.3f}" for k, v in hist.history.items()))

pred = model.predict(x_te, verbose=0).argmax(-1)
per_class = [np.mean(pred[y_te == k] == k) for k in range(4)]
print(f"test accuracy {np.mean(pred == y_te):.3f}, balanced {np.mean(per_class):.3f} "
      f"(always ok: {np.mean(y_te == 0):.3f} / 0.250)")
print("recall", dict(zip(STATES, np.round(per_class, 3).tolist())))
