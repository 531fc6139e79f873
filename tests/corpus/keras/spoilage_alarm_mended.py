import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import pandas as pd
from keras import layers
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split

SENSORS = ["temperature", "humidity", "ethylene", "co2", "door_openings", "days_in_store"]
LIMIT = 4.0


def storage_log(n=3000, seed=9):
    rng = np.random.default_rng(seed)
    df = pd.DataFrame({
        "temperature": rng.normal(6, 2, n),
        "humidity": rng.uniform(60, 98, n),
        "ethylene": rng.gamma(2.0, 0.5, n),
        "co2": rng.normal(900, 180, n),
        "door_openings": rng.poisson(7, n).astype(float),
        "days_in_store": rng.integers(1, 21, n).astype(float),
    })
    index = (0.35 * df.temperature + 0.03 * (df.humidity - 75) + 1.1 * df.ethylene
             + 0.14 * df.days_in_store + 0.05 * df.door_openings
             + 0.04 * df.temperature * df.ethylene - 2.6 + rng.normal(0, 0.5, n))
    df["spoilage_index"] = np.clip(index, 0, 10)
    return df


class MinMax:
    def fit(self, df):
        self.low, self.high = df.min(), df.max()
        return self

    def transform(self, df):
        return (df - self.low) / (self.high - self.low)


def prepare(df):
    train, test = train_test_split(df, test_size=0.25, random_state=5)
    scaler = MinMax().fit(train)
    parts = []
    for part in (train, test):
        table = scaler.transform(part)
        spoiled = (part["spoilage_index"] > LIMIT).astype("int32")
        parts += [table[SENSORS].to_numpy("float32"), spoiled.to_numpy()]
    return parts


def network():
    model = keras.Sequential([
        keras.Input((len(SENSORS),)),
        layers.Dense(32, activation="gelu"),
        layers.Dense(16, activation="gelu"),
        layers.Dense(1, activation="sigmoid"),
    ])
    model.compile(optimizer=keras.optimizers.AdamW(3e-3, weight_decay=1e-4),
                  loss=keras.losses.BinaryCrossentropy(),
                  metrics=[keras.metrics.BinaryAccuracy(name="acc")])
    return model


class Report(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1}: " + "  ".join(f"{k} {v:.4f}" for k, v in logs.items()))


def main():
    keras.utils.set_random_seed(13)
    df = storage_log()
    x_train, y_train, x_test, y_test = prepare(df)
    model = network()
    stop = keras.callbacks.EarlyStopping(monitor="val_loss", patience=6, restore_best_weights=True)
    model.fit(x_train, y_train, validation_split=0.2, epochs=30, batch_size=64,
              callbacks=[stop, Report()], verbose=0)
    alarm = model.predict(x_test, verbose=0)[:, 0] > 0.5
    print(f"test accuracy {np.mean(alarm == y_test):.3f}")
    held_out = df.loc[train_test_split(df.index, test_size=0.25, random_state=5)[1], "spoilage_index"]
    print(f"alarms raised {alarm.mean():.3f}, inspector's limit exceeded {np.mean(held_out > LIMIT):.3f}, "
          f"balanced accuracy against inspector {balanced_accuracy_score(held_out > LIMIT, alarm):.3f}")


if __name__ == "__main__":
    main()
