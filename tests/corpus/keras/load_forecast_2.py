import keras
import numpy as np
from keras import layers

HOURS = 24 * 150
LAGS = 48


def city_load(rng):
    t = np.arange(HOURS)
    day = 3.0 * np.sin(2 * np.pi * (t % 24) / 24 - 1.5) + np.sin(4 * np.pi * (t % 24) / 24)
    week = np.where((t // 24) % 7 >= 5, -1.5, 0.5)
    drift = 0.0
    weather = np.zeros(HOURS)
    for i in range(HOURS):
        drift = 0.97 * drift + 0.25 * rng.normal()
        weather[i] = drift
    noise = rng.normal(size=HOURS) * np.where(t < 0.8 * HOURS, 0.5, 0.3)
    return 40 + day + week + weather + noise


def windows(series, lags):
    view = np.lib.stride_tricks.sliding_window_view(series, lags + 1)
    return view[:, :-1].astype("float32"), view[:, -1:].astype("float32")


def step_schedule(epoch, lr):
    return lr * 0.5 if epoch in (10, 15) else lr


def make_model():
    return keras.Sequential([
        keras.Input((LAGS,)),
        layers.Dropout(0.05),
        layers.Dense(64, activation="relu"),
        layers.Dropout(0.3),
        layers.Dense(1, kernel_initializer="zeros"),
    ])


def main():
    keras.utils.set_random_seed(20)
    series = city_load(np.random.default_rng(20))
    split = int(0.8 * HOURS)
    mean, std = series[:split].mean(), series[:split].std()
    scaled = (series - mean) / std
    x_fit, y_fit = windows(scaled[:split], LAGS)
    x_late, y_late = windows(scaled[split - LAGS:], LAGS)

    model = make_model()
    model.compile(
        optimizer=keras.optimizers.SGD(0.02, momentum=0.9, nesterov=True, clipvalue=1.0),
        loss=keras.losses.Huber(delta=1.0),
        metrics=["mae"],
    )
    history = model.fit(
        x_fit, y_fit, validation_data=(x_late, y_late), epochs=20, batch_size=48, shuffle=False,
        callbacks=[keras.callbacks.LearningRateScheduler(step_schedule)], verbose=2,
    )

    pred = model.predict(x_late, verbose=0)
    mae = np.mean(np.abs(pred - y_late)) * std
    naive = np.mean(np.abs(x_late[:, -1:] - y_late)) * std
    daily = np.mean(np.abs(x_late[:, -24:-23] - y_late)) * std
    print(f"train loss {history.history['loss'][-1]:.4f}  late loss {history.history['val_loss'][-1]:.4f}")
    print(f"mae of the network {mae:.3f}, last hour {naive:.3f}, same hour yesterday {daily:.3f}")


if __name__ == "__main__":
    main()
