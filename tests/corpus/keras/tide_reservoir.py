# Tide level three hours ahead from an echo state network: the recurrent part stays random, only the readout is fitted.
import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(77)
rng = np.random.default_rng(77)
N, HORIZON = 5000, 6
t = np.arange(N) * 0.5
level = 1.8 * np.sin(2 * np.pi * t / 12.42) + 0.7 * np.sin(2 * np.pi * t / 12.0 + 1) + 0.3 * np.sin(2 * np.pi * t / 25.8)
surge = np.zeros(N)
for k in range(1, N):
    surge[k] = 0.985 * surge[k - 1] + 0.03 * rng.normal()
level = (level + surge).astype("float32")

WIN = 60
idx = np.arange(WIN, N - HORIZON)
X = np.stack([level[i - WIN:i] for i in idx])[..., None]
Y = level[idx + HORIZON - 1]


def spectral(radius, units):
    def init(shape, dtype=None):
        m = rng.normal(size=shape) * (rng.random(shape) < 0.1)
        m *= radius / np.abs(np.linalg.eigvals(m)).max()
        return keras.ops.convert_to_tensor(m.astype("float32"))
    return init


reservoir = layers.SimpleRNN(
    150,
    kernel_initializer=keras.initializers.RandomUniform(-0.4, 0.4),
    recurrent_initializer=spectral(0.9, 150),
    trainable=False,
)
model = keras.Sequential([layers.Input((WIN, 1)), reservoir, layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse", metrics=["mae"])
print("trainable numbers:", sum(int(np.prod(v.shape)) for v in model.trainable_variables),
      "fixed:", sum(int(np.prod(v.shape)) for v in model.non_trainable_variables))

cut = int(0.8 * len(X))
model.fit(X[:cut], Y[:cut], validation_data=(X[cut:], Y[cut:]), epochs=10, batch_size=32, verbose=2)
p = model.predict(X[cut:], verbose=0)[:, 0]
stay = X[cut:, -1, 0]
print("rmse %.3f m, persistence %.3f m" % (np.sqrt(np.mean((p - Y[cut:]) ** 2)), np.sqrt(np.mean((stay - Y[cut:]) ** 2))))
