"""Tool wear from machine sensor readings (subclassed model, decaying learning rate)."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)

N = 6000
speed = rng.uniform(500, 3000, N)
feed = rng.uniform(0.05, 0.5, N)
depth = rng.uniform(0.5, 4.0, N)
temp = 20 + 0.02 * speed + 30 * feed * depth + rng.normal(0, 3, N)
material = rng.integers(0, 5, N)
hardness = np.array([0.6, 0.9, 1.0, 1.4, 2.0])[material]
wear = hardness * (speed / 1000) ** 1.5 * feed * depth + 0.01 * temp + rng.normal(0, 0.1, N)

numeric = np.stack([speed, feed, depth, temp], axis=1).astype("float32")
target = ((wear - wear.mean()) / wear.std()).astype("float32")[:, None]
train, test = slice(0, 4800), slice(4800, N)


class WearNet(keras.Model):
    def __init__(self, n_materials):
        super().__init__()
        self.norm = layers.Normalization()
        self.emb = layers.Embedding(n_materials, 4)
        self.hidden = [layers.Dense(64, activation="relu") for _ in range(2)]
        self.out = layers.Dense(1)

    def call(self, inputs):
        x = layers.concatenate([self.norm(inputs["numeric"]), self.emb(inputs["material"])])
        for layer in self.hidden:
            x = layer(x)
        return self.out(x)


def dataset(rows, shuffle):
    ds = tf.data.Dataset.from_tensor_slices(
        ({"numeric": numeric[rows], "material": material[rows]}, target[rows]))
    return (ds.shuffle(5000) if shuffle else ds).batch(32).prefetch(2)


EPOCHS = 20
schedule = keras.optimizers.schedules.ExponentialDecay(
    initial_learning_rate=1e-3, decay_steps=1, decay_rate=0.9)

model = WearNet(5)
model.norm.adapt(numeric[train])
model.compile(optimizer=keras.optimizers.Adam(schedule), loss="mse", metrics=["mae"])
model.fit(dataset(train, True), validation_data=dataset(test, False), epochs=EPOCHS, verbose=2)

pred = model.predict(dataset(test, False), verbose=0)
residual = target[test] - pred
print("test R2: %.3f" % (1 - (residual ** 2).sum() / ((target[test] - target[test].mean()) ** 2).sum()))
