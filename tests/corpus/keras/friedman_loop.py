import numpy as np
import tensorflow as tf
import keras
from sklearn.datasets import make_friedman1
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

keras.utils.set_random_seed(0)

X, y = make_friedman1(n_samples=6000, n_features=12, noise=1.0, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
sx = StandardScaler().fit(X_train)
sy = StandardScaler().fit(y_train[:, None])
X_train = sx.transform(X_train).astype("float32")
X_test = sx.transform(X_test).astype("float32")
t_train = sy.transform(y_train[:, None]).astype("float32")

batch_size = 64
steps_per_epoch = len(X_train) // batch_size
print("steps per epoch:", steps_per_epoch)
train_ds = (
    tf.data.Dataset.from_tensor_slices((X_train, t_train))
    .shuffle(len(X_train), seed=0)
    .batch(batch_size, drop_remainder=True)
)

net = keras.Sequential(
    [
        keras.layers.Input((12,)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(1),
    ]
)

schedule = keras.optimizers.schedules.ExponentialDecay(
    initial_learning_rate=1e-3,
    decay_steps=5,
    decay_rate=0.9,
)
optimizer = keras.optimizers.Adam(schedule)
mse = keras.losses.MeanSquaredError()


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        pred = net(xb, training=True)
        loss = mse(yb, pred)
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return loss


for epoch in range(40):
    losses = [float(train_step(xb, yb)) for xb, yb in train_ds]
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1:3d}  loss {np.mean(losses):.4f}")

pred = sy.inverse_transform(net.predict(X_test, verbose=0))
print("R2 on test:", round(r2_score(y_test, pred[:, 0]), 4))
