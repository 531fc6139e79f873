import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(31)
rng = np.random.default_rng(31)
LEVELS = 5
FEATURES = 24


def reviews(n, w, v):
    x = rng.normal(0, 1, (n, FEATURES))
    taste = np.tanh(x @ w) * 2 + 0.5 * x[:, 0] * x[:, 1] + rng.normal(0, 0.3, n)
    stars = np.digitize(taste, [-1.6, -0.6, 0.6, 1.6])
    minutes_on_page = np.exp(0.5 * np.tanh(x @ v) + rng.normal(0, 0.2, n))
    return x.astype("float32"), stars.astype("int32"), (240 * minutes_on_page).astype("float32")


def to_cumulative(stars):
    return (stars[:, None] > np.arange(LEVELS - 1)[None, :]).astype("float32")


def cumulative_to_stars(logits):
    return (logits > 0).sum(axis=-1)


@keras.saving.register_keras_serializable()
class OrdinalAccuracy(keras.metrics.Metric):
    def __init__(self, tolerance=0, name="ordinal_accuracy"):
        super().__init__(name=name)
        self.tolerance = tolerance
        self.hit = self.add_weight(name="hit", initializer="zeros")
        self.seen = self.add_weight(name="seen", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        true = keras.ops.sum(keras.ops.cast(y_true, "float32"), axis=-1)
        pred = keras.ops.sum(keras.ops.cast(y_pred > 0, "float32"), axis=-1)
        ok = keras.ops.abs(true - pred) <= self.tolerance
        self.hit.assign_add(keras.ops.sum(keras.ops.cast(ok, "float32")))
        self.seen.assign_add(keras.ops.cast(keras.ops.shape(true)[0], "float32"))

    def result(self):
        return self.hit / keras.ops.maximum(self.seen, 1.0)


def build_model():
    inp = layers.Input((FEATURES,))
    h = layers.Dense(64, activation="relu")(inp)
    h = layers.Dense(32, activation="relu")(h)
    stars = layers.Dense(LEVELS - 1, name="stars")(h)
    dwell = layers.Dense(1, name="dwell")(h)
    return keras.Model(inp, {"stars": stars, "dwell": dwell})


w = rng.normal(0, 1, FEATURES) / 2.5
v = rng.normal(0, 1, FEATURES) / 2.5
x_tr, s_tr, d_tr = reviews(4000, w, v)
x_te, s_te, d_te = reviews(1000, w, v)

steps = 4000 // 32 * 20
schedule = keras.optimizers.schedules.CosineDecay(0.03, decay_steps=steps)
model = build_model()
model.compile(
    optimizer=keras.optimizers.SGD(schedule, momentum=0.9, global_clipnorm=1.0),
    loss={"stars": keras.losses.BinaryCrossentropy(from_logits=True), "dwell": "mse"},
    loss_weights={"stars": 1.0, "dwell": 1e-4},
    metrics={"stars": [OrdinalAccuracy(), OrdinalAccuracy(1, name="within_one")], "dwell": ["mae"]},
)
hist = model.fit(
    x_tr,
    {"stars": to_cumulative(s_tr), "dwell": d_tr[:, None]},
    epochs=20,
    batch_size=32,
    verbose=0,
)
for key in sorted(hist.history):
    print(f"{key:28s} {hist.history[key][-1]:.4f}")

out = model.predict(x_te, verbose=0)
stars = cumulative_to_stars(out["stars"])
acc = (stars == s_te).mean()
majority = np.bincount(s_te).max() / len(s_te)
mae = np.abs(out["dwell"][:, 0] - d_te).mean()
print(f"test star accuracy {acc:.3f}  majority {majority:.3f}")
print(f"test dwell MAE {mae:.1f}s  median-predictor {np.abs(np.median(d_tr) - d_te).mean():.1f}s")
