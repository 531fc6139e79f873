import numpy as np
import tf_keras as keras
from tf_keras import layers

keras.utils.set_random_seed(12)
rng = np.random.default_rng(12)
T = 48


def make(n):
    period = rng.uniform(5, 20, n)
    phase = rng.uniform(0, 2 * np.pi, n)
    kind = rng.integers(0, 3, n)
    t = np.arange(T)
    arg = 2 * np.pi * t / period[:, None] + phase[:, None]
    wave = np.where((kind == 0)[:, None], np.sin(arg),
                    np.where((kind == 1)[:, None], np.sign(np.sin(arg)), (arg / np.pi) % 2 - 1))
    return (wave + rng.normal(0, 0.1, (n, T)))[..., None].astype("float32"), kind, period.astype("float32")


x_tr, kind_tr, period_tr = make(2000)
x_va, kind_va, period_va = make(400)

inp = keras.Input((T, 1))
h = layers.Conv1D(24, 5, padding="same", activation="relu")(inp)
h = layers.Conv1D(24, 5, padding="same", activation="relu")(h)
encoded = layers.MaxPooling1D(4)(h)
flat = layers.Flatten()(encoded)
kind_out = layers.Dense(3, activation="softmax", name="kind")(layers.Dense(32, activation="relu")(flat))
period_out = layers.Dense(1, name="period")(layers.Dense(32, activation="relu")(flat))
decoded = layers.UpSampling1D(4)(encoded)
decoded = layers.Conv1D(1, 5, padding="same", name="wave")(decoded)
model = keras.Model(inp, [kind_out, period_out, decoded])

model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss={"kind": "sparse_categorical_crossentropy", "period": "mse", "wave": "mae"},
    loss_weights={"kind": 1.0, "period": 0.02, "wave": 0.5},
    metrics={"kind": "accuracy", "period": "mae"},
)
model.fit(
    x_tr, {"kind": kind_tr, "period": period_tr, "wave": x_tr},
    validation_data=(x_va, {"kind": kind_va, "period": period_va, "wave": x_va}),
    epochs=15, batch_size=50, verbose=2,
)
k, p, w = model.predict(x_va, verbose=0)
print("kind accuracy", (k.argmax(1) == kind_va).mean())
print("period R2", 1 - ((p[:, 0] - period_va) ** 2).mean() / period_va.var())
print("reconstruction mae", np.abs(w - x_va).mean(), "of", np.abs(x_va).mean())
