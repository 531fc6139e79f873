import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import pandas as pd
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(8)


def load_roofs(n=2000):
    rng = np.random.default_rng(8)
    df = pd.DataFrame({
        "area_m2": rng.uniform(15, 120, n),
        "tilt": rng.uniform(0, 60, n),
        "azimuth": rng.uniform(-180, 180, n),
        "shade": rng.beta(1.5, 6, n),
        "age": rng.integers(0, 20, n).astype(float),
    })
    gain = np.cos(np.radians(df.tilt - 35)) * (0.75 + 0.25 * np.cos(np.radians(df.azimuth)))
    df["mwh"] = 0.15 * df.area_m2 * gain * (1 - df.shade) * (1 - 0.006 * df.age) + rng.normal(0, 0.3, n)
    return df


class YieldModel(keras.Model):
    def __init__(self, normalizer):
        super().__init__()
        self.normalizer = normalizer
        self.hidden = [layers.Dense(64, activation="relu"), layers.Dense(32, activation="relu")]
        self.out = layers.Dense(1)
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.mae = keras.metrics.Mean(name="mae")

    @property
    def metrics(self):
        return [self.loss_tracker, self.mae]

    def call(self, x):
        x = self.normalizer(x)
        for layer in self.hidden:
            x = layer(x)
        return self.out(x)

    def errors(self, y, pred):
        diff = y - pred
        return tf.reduce_mean(tf.square(diff)), tf.reduce_mean(tf.abs(diff))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss, mae = self.errors(y, self(x, training=True))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(grads, self.trainable_variables)
        self.loss_tracker.update_state(loss)
        self.mae.update_state(mae)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        loss, mae = self.errors(y, self(x, training=False))
        self.loss_tracker.update_state(loss)
        self.mae.update_state(mae)
        return {m.name: m.result() for m in self.metrics}


def to_dataset(frame, shuffle):
    target = frame["mwh"].to_numpy("float32")
    features = frame.drop(columns="mwh").to_numpy("float32")
    ds = tf.data.Dataset.from_tensor_slices((features, target))
    return (ds.shuffle(len(frame)) if shuffle else ds).batch(32)


def main():
    df = load_roofs()
    train, test = df.iloc[:1600], df.iloc[1600:]
    normalizer = layers.Normalization()
    normalizer.adapt(train.drop(columns="mwh").to_numpy("float32"))
    model = YieldModel(normalizer)
    model.compile(optimizer=keras.optimizers.Adam(3e-3))
    model.fit(to_dataset(train, True), validation_data=to_dataset(test, False), epochs=12, verbose=2)
    pred = model.predict(to_dataset(test, False), verbose=0)[:, 0]
    rss = np.sum((test["mwh"] - pred) ** 2)
    print("test R2:", 1 - rss / np.sum((test["mwh"] - test["mwh"].mean()) ** 2))


if __name__ == "__main__":
    main()
