import numpy as np
import keras
from keras import layers, ops
from sklearn.model_selection import KFold

keras.utils.set_random_seed(151)
rng = np.random.default_rng(151)


def sensor_runs(n=2400):
    x = rng.uniform(-2, 2, (n, 4))
    sd = 0.01 + 0.04 / (1 + np.exp(-3 * x[:, 0]))
    y = 0.3 * np.sin(2 * x[:, 1]) + 0.15 * x[:, 2] * x[:, 0] + sd * rng.normal(0, 1, n)
    return x.astype("float32"), y[:, None].astype("float32")


class GaussianNLL(keras.losses.Loss):
    def __init__(self):
        super().__init__(reduction="sum")

    def call(self, y_true, y_pred):
        mean, log_sd = y_pred[:, :1], y_pred[:, 1:]
        z = (y_true - mean) * ops.exp(-log_sd)
        return ops.sum(log_sd + 0.5 * ops.square(z), axis=-1)


def build():
    inp = layers.Input((4,))
    h = layers.Dense(64, activation="swish")(inp)
    h = layers.Dense(64, activation="swish")(h)
    mean = layers.Dense(1)(h)
    log_sd = layers.Dense(1, activation=lambda v: -2.5 + 2.5 * ops.tanh(v))(h)
    model = keras.Model(inp, layers.Concatenate()([mean, log_sd]))
    model.compile(optimizer=keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(4e-3, 50 * 25)),
                  loss=GaussianNLL())
    return model


x, y = sensor_runs()
scores = []
for fold, (tr, te) in enumerate(KFold(3, shuffle=True, random_state=0).split(x)):
    model = build()
    hist = model.fit(x[tr], y[tr], batch_size=32, epochs=25, verbose=0)
    out = model.predict(x[te], verbose=0)
    mean, sd = out[:, 0], np.exp(out[:, 1])
    rmse = np.sqrt(np.mean((mean - y[te][:, 0]) ** 2))
    cover = (np.abs(mean - y[te][:, 0]) < 1.96 * sd).mean()
    scores.append((rmse, cover))
    print(f"fold {fold} loss {hist.history['loss'][0]:.2f} -> {hist.history['loss'][-1]:.2f} "
          f"rmse {rmse:.4f} coverage {cover:.3f}")

rmse, cover = np.mean(scores, axis=0)
print(f"mean rmse {rmse:.4f}  predict-the-mean rmse {y.std():.4f}  95% coverage {cover:.3f}")
