import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_diabetes
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

tf.random.set_seed(1)
np.random.seed(1)

bunch = load_diabetes()
X_tr, X_te, y_tr, y_te = train_test_split(bunch.data, bunch.target, test_size=0.25, random_state=1)

x_scaler = StandardScaler().fit(X_tr)
X_tr = x_scaler.transform(X_tr).astype("float32")
X_te = x_scaler.transform(X_te).astype("float32")

y_mean, y_std = y_tr.mean(), y_tr.std()
t_tr = ((y_tr - y_mean) / y_std).astype("float32")
t_te = ((y_te - y_mean) / y_std).astype("float32")

train = tf.data.Dataset.from_tensor_slices((X_tr, t_tr)).shuffle(400, seed=1).batch(32)


class ProgressionNet(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.h1 = tf.keras.layers.Dense(32, activation="tanh")
        self.drop = tf.keras.layers.Dropout(0.1)
        self.out = tf.keras.layers.Dense(1)

    def call(self, x, training=False):
        return self.out(self.drop(self.h1(x), training=training))


net = ProgressionNet()
opt = tf.keras.optimizers.Adam(3e-3)


@tf.function
def step(xb, tb):
    with tf.GradientTape() as tape:
        pred = net(xb, training=True)
        loss = tf.reduce_mean(tf.square(tb - pred))
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


for epoch in range(1, 41):
    running = tf.keras.metrics.Mean()
    for xb, tb in train:
        running.update_state(step(xb, tb))
    if epoch % 10 == 0:
        print(f"epoch {epoch:3d}  train mse {running.result():.4f}")

pred = net(X_te, training=False).numpy().ravel() * y_std + y_mean
rmse = float(np.sqrt(np.mean((pred - y_te) ** 2)))
print(f"test RMSE {rmse:.2f} (predicting the mean: {np.std(y_te):.2f})")
print(f"test R2   {r2_score(y_te, pred):.4f}")
print(f"spread of predictions {pred.std():.2f}")
