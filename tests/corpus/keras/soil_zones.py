import numpy as np
import tensorflow as tf
import keras

# Soil probes -> management zone (6 zones), used by the sprayer's map.
keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)

ZONES = 6
n = 4200
zone = rng.integers(0, ZONES, n)
proto = np.array([
    # clay, sand, pH,  N,   P,  K,   moisture, carbon
    [35, 20, 6.1, 40, 18, 160, 28, 2.4],
    [22, 45, 6.8, 30, 22, 120, 20, 1.6],
    [12, 70, 7.4, 18, 12, 80, 11, 0.8],
    [40, 15, 5.4, 55, 30, 210, 34, 3.6],
    [28, 35, 7.9, 25, 35, 190, 18, 1.2],
    [18, 50, 5.8, 48, 15, 95, 25, 2.9],
])
spread = np.array([6, 8, 0.4, 8, 6, 30, 5, 0.5])
table = (proto[zone] + rng.normal(size=(n, 8)) * spread).astype("float32")
zone = zone.astype("int32")

n_val = 700
norm = keras.layers.Normalization()
norm.adapt(table[n_val:])

features = tf.data.Dataset.from_tensor_slices(table[n_val:])
labels = tf.data.Dataset.from_tensor_slices(zone[n_val:])
features = features.shuffle(n - n_val)
labels = labels.shuffle(n - n_val)
train = tf.data.Dataset.zip((features, labels)).batch(64).prefetch(2)
val = tf.data.Dataset.from_tensor_slices((table[:n_val], zone[:n_val])).batch(256)

inputs = keras.Input((8,))
h = norm(inputs)
h = keras.layers.Dense(64, activation="relu")(h)
h = keras.layers.BatchNormalization()(h)
h = keras.layers.Dense(32, activation="relu")(h)
model = keras.Model(inputs, keras.layers.Dense(ZONES, activation="softmax")(h))

steps = (n - n_val) // 64 * 12
model.compile(
    optimizer=keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, steps)),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(train, validation_data=val, epochs=12, verbose=2)

pred = model.predict(table[:n_val], verbose=0).argmax(1)
for z in range(ZONES):
    m = zone[:n_val] == z
    print(f"zone {z}: recall {np.mean(pred[m] == z):.3f}  ({m.sum()} probes)")
print("overall", np.mean(pred == zone[:n_val]))
