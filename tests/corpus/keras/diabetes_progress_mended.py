import numpy as np
import tensorflow as tf
import keras
from sklearn.datasets import load_diabetes
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

SEED = 4
EPOCHS = 60
BATCH_SIZE = 32
tf.random.set_seed(SEED)
np.random.seed(SEED)
keras.utils.set_random_seed(SEED)


def load_data():
    X, y = load_diabetes(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=SEED)
    xs = StandardScaler().fit(X_train)
    ys = StandardScaler().fit(y_train[:, None])
    data = {
        "X_train": xs.transform(X_train).astype("float32"),
        "X_test": xs.transform(X_test).astype("float32"),
        "y_train": ys.transform(y_train[:, None]).ravel().astype("float32"),
        "y_test": y_test,
    }
    return data, ys


class Regressor(keras.Model):
    def __init__(self, hidden=32):
        super().__init__()
        self.d1 = keras.layers.Dense(hidden, activation="gelu")
        self.drop = keras.layers.Dropout(0.2)
        self.d2 = keras.layers.Dense(hidden // 2, activation="gelu")
        self.out = keras.layers.Dense(1)

    def call(self, x, training=False):
        x = self.drop(self.d1(x), training=training)
        return self.out(self.d2(x))


data, y_scaler = load_data()
train_ds = (
    tf.data.Dataset.from_tensor_slices((data["X_train"], data["y_train"]))
    .shuffle(1000, seed=SEED)
    .batch(BATCH_SIZE)
)

model = Regressor()
optimizer = keras.optimizers.AdamW(learning_rate=2e-3, weight_decay=1e-2)
model(data["X_train"][:1])
optimizer.build(model.trainable_variables)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        y_hat = tf.squeeze(model(x, training=True), axis=-1)
        loss = tf.reduce_mean(tf.square(y - y_hat))
    grads = tape.gradient(loss, model.trainable_variables)
    grads, norm = tf.clip_by_global_norm(grads, 5.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, norm


mean_loss = keras.metrics.Mean()
mean_norm = keras.metrics.Mean()
for epoch in range(EPOCHS):
    mean_loss.reset_state()
    mean_norm.reset_state()
    for xb, yb in train_ds:
        loss, norm = train_step(xb, yb)
        mean_loss.update_state(loss)
        mean_norm.update_state(norm)
    if (epoch + 1) % 10 == 0:
        print(f"epoch {epoch + 1:3d}  loss {float(mean_loss.result()):.4f}  grad norm {float(mean_norm.result()):.3f}")

pred = y_scaler.inverse_transform(model(data["X_test"], training=False).numpy()).ravel()
y_test = data["y_test"]
mean_guess = np.full_like(y_test, y_scaler.mean_[0])
print(f"R2  {r2_score(y_test, pred):.3f}")
print(f"MAE {mean_absolute_error(y_test, pred):.2f}  (mean guess {mean_absolute_error(y_test, mean_guess):.2f})")
