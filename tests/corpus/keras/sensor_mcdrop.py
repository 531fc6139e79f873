import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import keras
from keras import layers, ops

keras.utils.set_random_seed(21)
r = np.random.default_rng(21)


def sensor(n, lo=-3.0, hi=3.0):
    x = r.uniform(lo, hi, (n, 1))
    sd = 0.03 + 0.07 * (x > 0)
    y = 0.6 * np.sin(2 * x) + 0.1 * x + sd * r.normal(size=x.shape)
    return x.astype("float32"), y.astype("float32")


def gaussian_nll(y, out):
    mu, logvar = out[:, :1], ops.clip(out[:, 1:], -9.0, 4.0)
    return 0.5 * (logvar + ops.square(y - mu) * ops.exp(-logvar))     # no constant: goes well below zero


inp = keras.Input((1,))
h = inp
for _ in range(3):
    h = layers.Dense(128, "silu")(h)
    h = layers.Dropout(0.05)(h)
model = keras.Model(inp, layers.Dense(2)(h))
x, y = sensor(4000)
xv, yv = sensor(1000)


def mean_error(y_true, out):
    return ops.mean(ops.abs(y_true - out[:, :1]))


model.compile(keras.optimizers.AdamW(keras.optimizers.schedules.CosineDecayRestarts(3e-3, 640, t_mul=1.0, m_mul=0.7),
                                     weight_decay=1e-4), loss=gaussian_nll, metrics=[mean_error])
model.fit(x, y, validation_data=(xv, yv), epochs=40, batch_size=64, verbose=2)

# Monte Carlo: dropout stays on so that the spread between passes tells what the model does not know
def bayes(q, passes=50):
    runs = np.stack([ops.convert_to_numpy(model(q, training=True)) for _ in range(passes)])
    mu, var = runs[..., 0], np.exp(np.clip(runs[..., 1], -9, 4))
    return mu.mean(0), mu.var(0), var.mean(0)


mu, epi, alea = bayes(xv)
sd = np.sqrt(epi + alea)
z = np.abs(yv[:, 0] - mu) / sd
print(f"rmse of the averaged passes {np.sqrt(np.mean((mu - yv[:, 0]) ** 2)):.4f}")
print(f"inside one sd {np.mean(z < 1):.2f}, inside two {np.mean(z < 2):.2f}")
far = np.array([[4.5], [5.5], [-5.5]], "float32")
print("model spread far outside", np.sqrt(bayes(far)[1]).round(3), "inside", np.sqrt(epi).mean().round(3))
