import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import io
import csv

import numpy as np
import keras
import tensorflow as tf


def survey_csv(n, seed):
    """Survey office export: grade is 1 (best) to 5 (worst)."""
    r = np.random.default_rng(seed)
    buf = io.StringIO()
    w = csv.writer(buf)
    w.writerow(["ph", "clay", "sand", "organic", "depth_cm", "slope", "grade"])
    for _ in range(n):
        ph, clay, organic = r.normal(6.5, 0.8), r.uniform(5, 60), r.gamma(2, 1.5)
        sand = r.uniform(5, 95 - clay) if clay < 90 else 5
        depth, slope = r.uniform(10, 150), r.exponential(6)
        score = -abs(ph - 6.6) * 1.2 - abs(clay - 28) / 12 + organic / 2 + depth / 45 - slope / 6
        grade = 1 + int(np.digitize(-score, [-2.2, -0.9, 0.3, 1.6]))
        w.writerow([f"{v:.3f}" for v in (ph, clay, sand, organic, depth, slope)] + [grade])
    return buf.getvalue()


def load(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    cols = ["ph", "clay", "sand", "organic", "depth_cm", "slope"]
    x = np.array([[float(row[c]) for c in cols] for row in rows], "float32")
    y = np.array([int(row["grade"]) for row in rows], "int64") - 1
    return x, y


class SoilModel(keras.Model):
    def __init__(self, norm, classes):
        super().__init__()
        self.norm = norm
        self.body = [keras.layers.Dense(64, activation="relu") for _ in range(2)]
        self.head = keras.layers.Dense(classes)

    def call(self, x):
        x = self.norm(x)
        for layer in self.body:
            x = layer(x)
        return self.head(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            logits = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=logits)
        self.optimizer.apply(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        for m in self.metrics:
            if m.name == "loss":
                m.update_state(loss)
            else:
                m.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}


keras.utils.set_random_seed(1)
x, y = load(survey_csv(5000, 0))
xt, yt = load(survey_csv(1000, 1))
print("grades:", np.unique(y, return_counts=True))

norm = keras.layers.Normalization()
norm.adapt(x)
model = SoilModel(norm, classes=5)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=[keras.metrics.SparseCategoricalAccuracy(name="acc")],
)
model.fit(x, y, validation_data=(xt, yt), batch_size=64, epochs=20, verbose=2)
loss, acc = model.evaluate(xt, yt, verbose=0)
print(f"test loss {loss:.3f} accuracy {acc:.3f}")
