"""Used-bike price model, plain TF2 training loop."""
import time
import numpy as np
import tensorflow as tf
from sklearn.preprocessing import StandardScaler
from sklearn.model_selection import train_test_split

np.random.seed(0)
tf.random.set_seed(0)

BRANDS = ["trek", "giant", "canyon", "cube", "noname"]
BRAND_VALUE = np.array([1.25, 1.0, 1.35, 1.05, 0.45])


def make_listing_table(n=4000):
    brand = np.random.randint(0, len(BRANDS), n)
    age = np.random.gamma(2.0, 2.0, n)
    km = age * np.random.lognormal(6.5, 0.6, n)
    weight = np.random.normal(10.5, 2.0, n).clip(6.5, 18)
    carbon = (np.random.rand(n) < 0.25 + 0.3 * (weight < 9)).astype(float)
    electric = (np.random.rand(n) < 0.2).astype(float)
    price = (900 * BRAND_VALUE[brand] * (1 + 0.9 * carbon + 1.3 * electric)
             * np.exp(-0.12 * age) * (1 + 0.06 * (11 - weight)) - 0.012 * km)
    price = np.maximum(price, 40) * np.random.lognormal(0, 0.08, n)
    onehot = np.eye(len(BRANDS))[brand]
    X = np.column_stack([age, np.log1p(km), weight, carbon, electric, onehot])
    return X.astype("float32"), np.log(price).astype("float32")


X, y = make_listing_table()
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=1)
sc = StandardScaler().fit(X_train)
X_train, X_test = sc.transform(X_train), sc.transform(X_test)
y_mean, y_std = y_train.mean(), y_train.std()
t_train, t_test = (y_train - y_mean) / y_std, (y_test - y_mean) / y_std

train_ds = tf.data.Dataset.from_tensor_slices((X_train, t_train)).shuffle(4000).batch(64)
test_ds = tf.data.Dataset.from_tensor_slices((X_test, t_test)).batch(256)

model = tf.keras.Sequential([
    tf.keras.Input((X_train.shape[1],)),
    tf.keras.layers.Dense(64, activation="gelu"),
    tf.keras.layers.Dense(64, activation="gelu"),
    tf.keras.layers.Dense(1),
])
optimizer = tf.keras.optimizers.Adam(1e-3)
train_loss = tf.keras.metrics.Mean()


@tf.function
def train_step(x, t):
    with tf.GradientTape() as tape:
        pred = model(x, training=True)
        loss = tf.reduce_mean(tf.square(t - pred))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    train_loss.update_state(loss)


def predict(ds):
    return np.concatenate([model(x, training=False).numpy().ravel() for x, _ in ds])


start = time.time()
for epoch in range(15):
    train_loss.reset_state()
    for xb, tb in train_ds:
        train_step(xb, tb)
    if epoch % 2 == 0 or epoch == 14:
        print(f"epoch {epoch:2d}  train mse {train_loss.result():.4f}  ({time.time() - start:.1f}s)")

p = predict(test_ds)
r2 = 1 - np.sum((t_test - p) ** 2) / np.sum((t_test - t_test.mean()) ** 2)
euro = np.exp(p * y_std + y_mean)
mae = np.mean(np.abs(euro - np.exp(y_test)))
mae0 = np.mean(np.abs(np.exp(np.median(y_train)) - np.exp(y_test)))
print(f"test R2 {r2:.3f}   test MAE {mae:.0f} EUR   (median price for all: {mae0:.0f} EUR)")
