import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np, keras, tensorflow as tf
from keras import layers

keras.utils.set_random_seed(11)

FONT = ["01110 10001 10001 10001 01110", "00100 01100 00100 00100 01110", "11110 00001 01110 10000 11111",
        "11110 00001 00110 00001 11110", "10010 10010 11111 00010 00010", "11111 10000 11110 00001 11110",
        "01110 10000 11110 10001 01110", "11111 00010 00100 01000 01000", "01110 10001 01110 10001 01110",
        "01110 10001 01111 00001 01110"]
GLYPH = np.array([[[int(c) for c in r] for r in g.split()] for g in FONT], "float32")


def render(n, seed):
    r = np.random.default_rng(seed)
    y = r.integers(0, 10, n)
    x = np.zeros((n, 16, 16, 1), "float32")
    for i, k in enumerate(y):
        g = np.kron(GLYPH[k], np.ones((2, 2)))
        dy, dx = r.integers(1, 5, 2)
        x[i, dy:dy + 10, dx:dx + 10, 0] = g * r.uniform(0.6, 1.0)
    return x + r.normal(0, 0.2, x.shape).astype("float32"), y.astype("int32")


class SharpnessAware(keras.Model):
    """Two passes a batch: climb by rho along the gradient, take the gradient there, come back, step."""

    def __init__(self, body, rho=0.03):
        super().__init__()
        self.body, self.rho = body, rho

    def call(self, x, training=None):
        return self.body(x, training=training)

    def train_step(self, data):
        x, y = data
        w = self.trainable_variables
        with tf.GradientTape() as tape:
            p = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=p)
        g = tape.gradient(loss, w)
        scale = self.rho / (tf.linalg.global_norm(g) + 1e-12)
        eps = [d * scale for d in g]
        for v, e in zip(w, eps):
            v.assign_add(e)
        with tf.GradientTape() as tape:
            loss2 = self.compute_loss(y=y, y_pred=self(x, training=True))
        g2 = tape.gradient(loss2, w)
        for v, e in zip(w, eps):
            v.assign_sub(e)
        self.optimizer.apply(g2, w)
        out = {}
        for m in self.metrics:
            if m.name == "loss":
                m.update_state(loss)
            else:
                m.update_state(y, p)
        for m in self.metrics:
            r = m.result()
            out.update(r if isinstance(r, dict) else {m.name: r})
        return out


body = keras.Sequential([
    keras.Input((16, 16, 1)),
    layers.Conv2D(16, 3, padding="same"), layers.GroupNormalization(4), layers.Activation("relu"), layers.MaxPooling2D(),
    layers.Conv2D(32, 3, padding="same"), layers.GroupNormalization(4), layers.Activation("relu"), layers.MaxPooling2D(),
    layers.Flatten(), layers.Dropout(0.2), layers.Dense(10)])
model = SharpnessAware(body)
xtr, ytr = render(3000, 1)
xva, yva = render(1000, 2)
EPOCHS, BS = 12, 32
rate = keras.optimizers.schedules.PolynomialDecay(0.08, EPOCHS * (len(xtr) // BS + 1), 0.001, power=1.0)
model.compile(
    optimizer=keras.optimizers.SGD(rate, momentum=0.9, nesterov=True, weight_decay=5e-4,
                                   use_ema=True, ema_momentum=0.98),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(xtr, ytr, batch_size=BS, epochs=EPOCHS, validation_data=(xva, yva), verbose=2,
          callbacks=[keras.callbacks.SwapEMAWeights()])
print("held-out accuracy with averaged weights", model.evaluate(xva, yva, verbose=0, callbacks=[keras.callbacks.SwapEMAWeights()]))
