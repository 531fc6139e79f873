import numpy as np
import tensorflow as tf
from sklearn.metrics import r2_score

rng = np.random.default_rng(0)
tf.random.set_seed(0)


def houses(n):
    area = rng.uniform(25, 180, n)
    rooms = np.clip(np.round(area / 28 + rng.normal(0, 0.7, n)), 1, 8)
    age = rng.uniform(0, 90, n)
    dist = rng.gamma(2.0, 3.0, n)
    floor = rng.integers(0, 9, n)
    garden = rng.integers(0, 2, n)
    price = 3.1 * area + 8 * rooms - 0.9 * age + 25 * garden * (floor == 0) - 60 * np.log1p(dist) + 200
    price += rng.normal(0, 12, n)
    return np.stack([area, rooms, age, dist, floor, garden], 1), price


X_train, y_train = houses(3000)
X_test, y_test = houses(600)
mu, sd = X_train.mean(0), X_train.std(0)
X_train = ((X_train - mu) / sd).astype("float32")
X_test = ((X_test - mu) / sd).astype("float32")
y_mu, y_sd = y_train.mean(), y_train.std()
t_train = ((y_train - y_mu) / y_sd).astype("float32")

dataset = tf.data.Dataset.from_tensor_slices((X_train, t_train)).shuffle(3000).batch(64)

model = tf.keras.Sequential(
    [
        tf.keras.layers.Input((6,)),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(1),
    ]
)
optimizer = tf.keras.optimizers.Adam(learning_rate=2e-3)


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        pred = model(xb, training=True)
        loss = tf.reduce_mean(tf.square(pred - yb))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(15):
    losses = []
    for xb, yb in dataset:
        losses.append(float(train_step(xb, yb)))
    print(f"epoch {epoch + 1:2d}  mse {np.mean(losses):.4f}")

y_hat = model(X_test).numpy().ravel() * y_sd + y_mu
print("R2 on test flats:", round(r2_score(y_test, y_hat), 3))
print("mean absolute error (thousand):", round(float(np.abs(y_test - y_hat).mean()), 2))
