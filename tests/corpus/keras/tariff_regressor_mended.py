# Insurance tariff: expected claim cost from policy attributes (notebook export)
import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)

# %% policies
N = 2400
age = rng.uniform(18, 85, N)
power = rng.gamma(6, 15, N)
mileage = rng.lognormal(9.3, 0.5, N)
years_free = np.minimum(rng.poisson(6, N), age - 18)
urban = rng.integers(0, 2, N)
garage = rng.integers(0, 2, N)
risk = (0.9 * ((age - 48) / 20) ** 2 + 0.02 * power * (1 + urban)
        + 0.8 * np.log(mileage / 1e4) * (1.5 - garage) - 0.25 * years_free)
cost = 10 + risk + rng.normal(0, 0.25, N)
X = np.stack([age, power, np.log(mileage), years_free, urban, garage], 1)

X_train, X_test, y_train, y_test = train_test_split(X, cost, test_size=0.25, random_state=0)
xs, ys = StandardScaler().fit(X_train), StandardScaler().fit(y_train[:, None])
Z_train = xs.transform(X_train).astype("float32")
Z_test = xs.transform(X_test).astype("float32")
t_train = ys.transform(y_train[:, None]).astype("float32")


# %% model
def build():
    return keras.Sequential([
        keras.Input((Z_train.shape[1],)),
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(1),
    ])


def loss_and_grads(model, xb, yb):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(xb, training=True) - yb))
    return loss, tape.gradient(loss, model.trainable_variables)


def update(optimizer, model, grads):
    optimizer.apply_gradients(zip(grads, model.trainable_variables))


# %% training
model = build()
EPOCHS, BATCH, RATE = 9, 64, 1e-2
history = []
opt = keras.optimizers.Adam(learning_rate=RATE)
for epoch in range(EPOCHS):
    order = rng.permutation(len(Z_train))
    running = []
    for lo in range(0, len(order), BATCH):
        idx = order[lo:lo + BATCH]
        loss, grads = loss_and_grads(model, Z_train[idx], t_train[idx])
        update(opt, model, grads)
        running.append(float(loss))
    history.append(np.mean(running))
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1}/{EPOCHS}  mse {history[-1]:.4f}")

# %% report
pred = ys.inverse_transform(model.predict(Z_test, verbose=0))[:, 0]
linear = LinearRegression().fit(xs.transform(X_train), y_train).predict(xs.transform(X_test))
print("network  R2 %.3f  MAE %.3f" % (r2_score(y_test, pred), mean_absolute_error(y_test, pred)))
print("linear   R2 %.3f  MAE %.3f" % (r2_score(y_test, linear), mean_absolute_error(y_test, linear)))
