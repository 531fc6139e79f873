import numpy as np
import tensorflow as tf
from tensorflow import keras

tf.random.set_seed(0)
rng = np.random.default_rng(0)

n = 2000
litres = rng.uniform(0.3, 1.7, n)
watts = rng.uniform(1.2, 3.0, n)
start_temp = rng.uniform(5, 30, n)
minutes = 4.186 * litres * (100 - start_temp) / watts / 60 + rng.normal(0, 0.1, n)

X = np.stack([litres, watts, start_temp], axis=1)
X = ((X - X.mean(0)) / X.std(0)).astype("float32")
y = minutes.astype("float32")
X_train, y_train, X_test, y_test = X[:1600], y[:1600], X[1600:], y[1600:]

train_ds = tf.data.Dataset.from_tensor_slices((X_train, y_train)).shuffle(1600).batch(32)

model = keras.Sequential([
    keras.Input((3,)),
    keras.layers.Dense(32, activation="relu"),
    keras.layers.Dense(32, activation="relu"),
    keras.layers.Dense(1),
])
optimizer = keras.optimizers.Adam(learning_rate=0.003)


@tf.function
def train_step(x, target):
    with tf.GradientTape() as tape:
        prediction = model(x, training=True)
        loss = tf.reduce_mean(tf.square(target - prediction))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for epoch in range(25):
    losses = []
    for x, target in train_ds:
        losses.append(float(train_step(x, target)))
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}")

pred = model.predict(X_test, verbose=0).ravel()
ss_res = np.sum((y_test - pred) ** 2)
ss_tot = np.sum((y_test - y_test.mean()) ** 2)
print("test R2:", 1 - ss_res / ss_tot)
print("first predictions:", pred[:5], "truth:", y_test[:5])
