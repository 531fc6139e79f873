import keras
import numpy as np
import tensorflow as tf
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)

# rents: floor area, distance to the centre, year built, storey, balcony
n = 3000
area = rng.gamma(6, 12, n)
distance = rng.exponential(4, n)
year = rng.integers(1900, 2024, n)
storey = rng.integers(0, 9, n)
balcony = rng.random(n) < 0.4
rent = 250 + 9.5 * area * np.exp(-0.06 * distance) + 1.2 * np.maximum(year - 1980, 0) + 12 * storey + 60 * balcony
rent = rent + rng.normal(0, 40, n)

features = np.column_stack([area, distance, year, storey, balcony]).astype("float32")
x_train, x_test, y_train, y_test = train_test_split(features, rent.astype("float32"), test_size=0.2, random_state=2)
scaler = StandardScaler().fit(x_train)
x_train, x_test = scaler.transform(x_train), scaler.transform(x_test)
mu, sigma = y_train.mean(), y_train.std()

train = tf.data.Dataset.from_tensor_slices((x_train, (y_train - mu) / sigma)).shuffle(2400, seed=2).batch(64)

model = keras.Sequential([
    keras.Input((5,)),
    keras.layers.Dense(48, activation="relu"),
    keras.layers.Dense(48, activation="relu"),
    keras.layers.Dense(1),
])
optimizer = keras.optimizers.Adam(learning_rate=3e-3)


def test_r2():
    pred = model(x_test, training=False).numpy()[:, 0] * sigma + mu
    return 1 - np.mean((pred - y_test) ** 2) / np.var(y_test)


for epoch in range(10):
    total, batches = 0.0, 0
    for xb, yb in train:
        with tf.GradientTape() as tape:
            pred = model(xb, training=True)
            loss = tf.reduce_mean(tf.square(yb - pred))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        total += float(loss)
        batches += 1
    print(f"epoch {epoch + 1:2d}  mse {total / batches:.4f}  test R2 {test_r2():.3f}")
