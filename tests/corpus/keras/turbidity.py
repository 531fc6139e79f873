import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)

hours = np.arange(2400)
rain = rng.gamma(0.15, 4.0, 2400)
flow = np.convolve(rain, np.exp(-np.arange(48) / 12.0))[:2400]
turb = 0.6 * np.convolve(flow, np.exp(-np.arange(24) / 5.0))[:2400] ** 0.8
turb += 1.5 * np.sin(2 * np.pi * hours / 24) + rng.normal(0, 0.3, 2400)
series = np.stack([rain, flow, turb], axis=1)
series = ((series - series[:1800].mean(0)) / series[:1800].std(0)).astype("float32")

WINDOW, AHEAD = 24, 3
x = np.stack([series[i:i + WINDOW] for i in range(2400 - WINDOW - AHEAD)])
y = np.array([series[i + WINDOW + AHEAD - 1, 2] for i in range(2400 - WINDOW - AHEAD)])[:, None]
x_train, y_train, x_test, y_test = x[:1800], y[:1800], x[1800:], y[1800:]


class AccumulatingModel(keras.Model):
    def setup(self, every):
        self.every = every
        self.seen = tf.Variable(0, trainable=False)
        self.accum = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in self.trainable_variables]
        self.optimizer.build(self.trainable_variables)

    def train_step(self, data):
        xb, yb = data
        with tf.GradientTape() as tape:
            pred = self(xb, training=True)
            loss = self.compute_loss(y=yb, y_pred=pred)
        grads = tape.gradient(loss, [v.value for v in self.trainable_variables])
        for a, g in zip(self.accum, grads):
            a.assign_add(g / self.every)
        self.seen.assign_add(1)
        tf.cond(self.seen % self.every == 0, self.apply_accumulated, lambda: None)
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(yb, pred)
        return {m.name: m.result() for m in self.metrics}

    def apply_accumulated(self):
        self.optimizer.apply_gradients(zip(self.accum, self.trainable_variables))


inputs = keras.Input((WINDOW, 3))
h = layers.Conv1D(24, 5, activation="relu")(inputs)
h = layers.GRU(32)(h)
model = AccumulatingModel(inputs, layers.Dense(1)(h))
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse", metrics=["mae"], jit_compile=False)
model.setup(every=4)
model.fit(x_train, y_train, batch_size=16, epochs=12, verbose=2)

pred = model.predict(x_test, verbose=0)
print("test RMSE %.3f   persistence RMSE %.3f" % (
    np.sqrt(np.mean((pred - y_test) ** 2)), np.sqrt(np.mean((x_test[:, -1, 2:] - y_test) ** 2))))
