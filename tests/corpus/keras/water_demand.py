# %% [markdown]
# Hourly water demand of a small town: forecast the mean demand of the six hours starting a day ahead.
# %%
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)
WINDOW, LEAD, SPAN = 72, 18, 6

# %% series: five months, hourly
n_hours = 24 * 150
t = np.arange(n_hours)
day_shape = 0.8 * np.sin(2 * np.pi * (t - 7) / 24) + 0.4 * np.sin(4 * np.pi * (t - 5) / 24)
week_shape = np.where((t // 24) % 7 >= 5, -0.5, 0.0)
weather = np.zeros(n_hours)
for i in range(1, n_hours):
    weather[i] = 0.985 * weather[i - 1] + rng.normal(0, 0.16)
demand = 10 + day_shape * (1 + 0.15 * weather) + week_shape + weather + rng.normal(0, 0.15, n_hours)


# %% windows
def windows(series, hours):
    xs, extra, ys = [], [], []
    for s in range(len(series) - WINDOW - LEAD - SPAN + 1):
        end = s + WINDOW
        xs.append(series[s:end])
        h = hours[end + LEAD] % 168
        extra.append([np.sin(2 * np.pi * h / 24), np.cos(2 * np.pi * h / 24),
                      np.sin(2 * np.pi * h / 168), np.cos(2 * np.pi * h / 168)])
        ys.append(series[end + LEAD:end + LEAD + SPAN].mean())
    return np.array(xs, np.float32), np.array(extra, np.float32), np.array(ys, np.float32)


x, extra, y = windows(demand, t)
n = len(y)
order = rng.permutation(n)
n_train, n_val = int(0.65 * n), int(0.15 * n)
train = order[:n_train]
val = order[n_train:n_train + n_val]
test = order[n_train + n_val:]
print("windows: train %d  val %d  test %d" % (len(train), len(val), len(test)))

mu, sd = x[train].mean(), x[train].std()
scale = lambda a: (a - mu) / sd


def inputs(idx):
    return {"history": scale(x[idx]), "clock": extra[idx]}


# %% model
history = keras.Input((WINDOW,), name="history")
clock = keras.Input((4,), name="clock")
h = layers.Concatenate()([history, clock])
for width in (256, 256, 128):
    h = layers.Dense(width, activation="relu")(h)
out = layers.Dense(1)(h)
model = keras.Model([history, clock], out)
model.compile(keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])

stop = keras.callbacks.EarlyStopping(monitor="val_loss", patience=8, restore_best_weights=True)
plateau = keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=3, min_lr=1e-5)
hist = model.fit(inputs(train), scale(y[train]), validation_data=(inputs(val), scale(y[val])),
                 epochs=60, batch_size=64, callbacks=[stop, plateau], verbose=0)
print("epochs run:", len(hist.history["loss"]), " best val mse: %.4f" % min(hist.history["val_loss"]))

# %% report
pred = model.predict(inputs(test), verbose=0)[:, 0] * sd + mu
mae = np.abs(pred - y[test]).mean()
same_hour = np.stack([x[i, WINDOW - 24 + LEAD:WINDOW - 24 + LEAD + SPAN].mean() for i in test])
print(f"test MAE {mae:.3f}   same hours of the last day {np.abs(same_hour - y[test]).mean():.3f}   "
      f"mean of the training period {np.abs(y[train].mean() - y[test]).mean():.3f}")
print(f"test R2  {1 - ((pred - y[test]) ** 2).mean() / y[test].var():.3f}")
