import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold


class SampledForecaster:
    def __init__(self, draws=50, rate=0.15):
        self.draws = draws
        self.rate = rate

    def _net(self, n):
        inp = keras.Input((n,))
        h = layers.Dense(64, activation="relu")(inp)
        h = layers.Dropout(self.rate)(h)
        h = layers.Dense(32, activation="relu")(h)
        h = layers.Dropout(self.rate)(h)
        return keras.Model(inp, layers.Dense(1)(h))

    def fit(self, x, y):
        self.x_stats = x.mean(0), x.std(0)
        self.y_stats = y.mean(), y.std()
        z = (x - self.x_stats[0]) / self.x_stats[1]
        t = (y - self.y_stats[0]) / self.y_stats[1]
        self.net = self._net(x.shape[1])
        self.net.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse")
        self.hist = self.net.fit(z, t[:, None], epochs=25, batch_size=32, verbose=0)
        return self

    def sample(self, x):
        z = (x - self.x_stats[0]) / self.x_stats[1]
        tiled = np.repeat(z, self.draws, axis=0)
        out = self.net(tiled, training=True).numpy().reshape(len(x), self.draws)
        return out * self.y_stats[1] + self.y_stats[0]


keras.utils.set_random_seed(50)
x, y = load_diabetes(return_X_y=True)
x, y = x.astype("float32"), y.astype("float32")

report = []
for fold, (tr, te) in enumerate(KFold(3, shuffle=True, random_state=50).split(x)):
    model = SampledForecaster().fit(x[tr], y[tr])
    draws = model.sample(x[te])
    one = np.mean((draws[:, 0] - y[te]) ** 2)
    mean = np.mean((draws.mean(1) - y[te]) ** 2)
    base = np.mean((y[tr].mean() - y[te]) ** 2)
    report.append((1 - one / base, 1 - mean / base, draws.std(1).mean()))
    print(f"fold {fold}: train loss {model.hist.history['loss'][-1]:.3f}  r2 one draw {report[-1][0]:.3f}  "
          f"r2 averaged {report[-1][1]:.3f}  spread {report[-1][2]:.1f}")

report = np.array(report)
print(f"r2 averaged {report[:, 1].mean():.3f}   r2 single draw {report[:, 0].mean():.3f}")
