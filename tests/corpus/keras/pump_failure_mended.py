"""Predict pump failure within the next 24 h from a snapshot of plant sensors.

Custom train_step with mixup, otherwise plain fit().
"""
import argparse

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

SENSORS = ["inlet_pressure_pa", "outlet_pressure_pa", "bearing_temp_k", "vibration_m",
           "motor_current_a", "flow_m3_s", "oil_particles_per_l", "runtime_s"]


def simulate(n, seed):
    r = np.random.default_rng(seed)
    wear = r.beta(2, 3, n)
    load = r.uniform(0.3, 1.0, n)
    fouling = r.beta(2, 4, n)
    runtime = 3.6e6 * r.uniform(0.1, 3, n)
    flow = 0.05 * load * (1 - 0.4 * fouling) + r.normal(0, 0.001, n)
    p_in = 1.2e5 - 3e4 * fouling + r.normal(0, 1500, n)
    p_out = p_in + 4e5 * load * (1 - 0.2 * wear) + r.normal(0, 5000, n)
    vib = 1e-4 * (1 + 3 * wear ** 2 + 0.5 * load) * np.exp(r.normal(0, 0.08, n))
    temp = 300 + 35 * load + 25 * wear + r.normal(0, 1.5, n)
    current = 12 + 20 * load + 4 * wear * load + r.normal(0, 0.4, n)
    oil = np.exp(6 + 3 * wear + r.normal(0, 0.25, n))
    risk = 9 * (wear - 0.45) + 6 * (fouling - 0.35) * (load > 0.6) + 3 * wear * load - 1.2
    y = (r.random(n) < 1 / (1 + np.exp(-2.5 * risk))).astype("float32")
    x = np.stack([p_in, p_out, temp, vib, current, flow, oil, runtime], 1).astype("float32")
    return x, y[:, None]


class MixupModel(keras.Model):
    def __init__(self, *args, alpha=0.2, **kwargs):
        super().__init__(*args, **kwargs)
        self.alpha = alpha

    def mix(self, x, y):
        n = tf.shape(x)[0]
        g1 = tf.random.gamma([n, 1], self.alpha)
        g2 = tf.random.gamma([n, 1], self.alpha)
        lam = g1 / (g1 + g2 + 1e-8)
        idx = tf.random.shuffle(tf.range(n))
        return (lam * x + (1 - lam) * tf.gather(x, idx),
                lam * y + (1 - lam) * tf.gather(y, idx))

    def train_step(self, data):
        x, y = data
        x, y_mix = self.mix(x, y)
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(y=y_mix, y_pred=y_pred)
        grads = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply(grads, self.trainable_weights)
        for m in self.metrics:
            if m.name == "loss":
                m.update_state(loss)
            else:
                m.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}


def build(n_features, width, alpha):
    inp = keras.Input((n_features,))
    h = layers.BatchNormalization(momentum=0.95)(inp)
    for _ in range(2):
        h = layers.Dense(width, use_bias=False)(h)
        h = layers.BatchNormalization(momentum=0.95)(h)
        h = layers.Activation("silu")(h)
        h = layers.Dropout(0.1)(h)
    out = layers.Dense(1, activation="sigmoid")(h)
    return MixupModel(inp, out, alpha=alpha)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--width", type=int, default=64)
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--alpha", type=float, default=0.2)
    ap.add_argument("--seed", type=int, default=0)
    a = ap.parse_args()
    keras.utils.set_random_seed(a.seed)

    x_train, y_train = simulate(5000, a.seed)
    x_val, y_val = simulate(1000, a.seed + 1)
    x_test, y_test = simulate(2000, a.seed + 2)
    print("failure rate %.3f, %d sensors" % (y_train.mean(), len(SENSORS)))

    model = build(x_train.shape[1], a.width, a.alpha)
    model.compile(optimizer=keras.optimizers.AdamW(a.lr, weight_decay=1e-4),
                  loss="binary_crossentropy")
    model.fit(x_train, y_train, validation_data=(x_val, y_val),
              epochs=a.epochs, batch_size=64, verbose=2)

    p = model.predict(x_test, batch_size=500, verbose=0)[:, 0]
    t = y_test[:, 0]
    print("test AUC %.3f  balanced accuracy %.3f" %
          (roc_auc_score(t, p), balanced_accuracy_score(t, p > 0.5)))
    base = -x_test[:, SENSORS.index("bearing_temp_k")]
    print("reference: single sensor AUC %.3f" % max(roc_auc_score(t, base), roc_auc_score(t, -base)))
