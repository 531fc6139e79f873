import numpy as np
import pandas as pd
import tensorflow as tf
import keras
from keras import layers
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(11)
rng = np.random.default_rng(11)


def load_sales(rows=6000, stores=40, items=60):
    store_pull = rng.normal(0, 1.0, stores)
    item_pull = rng.normal(0, 1.0, items)
    df = pd.DataFrame({
        "store": rng.integers(0, stores, rows),
        "item": rng.integers(0, items, rows),
        "promo": rng.integers(0, 2, rows),
        "price_idx": rng.normal(0, 1, rows),
    })
    season = rng.integers(0, 52, rows)
    df["sin_week"] = np.sin(2 * np.pi * season / 52)
    df["cos_week"] = np.cos(2 * np.pi * season / 52)
    df["log_units"] = (
        3.0 + store_pull[df.store] + item_pull[df.item] + 0.4 * df.promo
        - 0.3 * df.price_idx + 0.3 * df.sin_week + rng.normal(0, 0.2, rows)
    )
    return df


class SalesModel(keras.Model):
    def __init__(self, stores, items, dim=4):
        super().__init__()
        self.store_emb = layers.Embedding(stores, dim)
        self.item_emb = layers.Embedding(items, dim)
        self.head = keras.Sequential([
            layers.Dense(32, activation="relu"),
            layers.Dense(16, activation="relu"),
            layers.Dense(1),
        ], name="head")

    def call(self, inputs, training=False):
        ids, numbers = inputs
        z = tf.concat([self.store_emb(ids[:, 0]), self.item_emb(ids[:, 1]), numbers], axis=1)
        return self.head(z, training=training)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            pred = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=pred)
        weights = self.head.trainable_variables
        grads = tape.gradient(loss, weights)
        self.optimizer.apply_gradients(zip(grads, weights))
        for m in self.metrics:
            if m.name == "loss":
                m.update_state(loss)
            else:
                m.update_state(y, pred)
        return {m.name: m.result() for m in self.metrics}


def split_inputs(df):
    ids = df[["store", "item"]].to_numpy("int32")
    numbers = df[["promo", "price_idx", "sin_week", "cos_week"]].to_numpy("float32")
    return (ids, numbers), df[["log_units"]].to_numpy("float32")


df = load_sales()
train_df, test_df = train_test_split(df, test_size=0.2, random_state=0)
train_df, val_df = train_test_split(train_df, test_size=0.15, random_state=0)
x_tr, y_tr = split_inputs(train_df)
x_va, y_va = split_inputs(val_df)
x_te, y_te = split_inputs(test_df)

model = SalesModel(int(df.store.max()) + 1, int(df.item.max()) + 1)
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse", metrics=["mae"])
stopper = keras.callbacks.EarlyStopping(monitor="val_loss", patience=4, restore_best_weights=True)
hist = model.fit(x_tr, y_tr, validation_data=(x_va, y_va), epochs=30, batch_size=64,
                 callbacks=[stopper], verbose=0)

pred = model.predict(x_te, verbose=0)
rmse = float(np.sqrt(np.mean((pred - y_te) ** 2)))
base = float(np.sqrt(np.mean((y_tr.mean() - y_te) ** 2)))
print(f"epochs {len(hist.history['loss'])}  test rmse {rmse:.3f}  mean-predictor rmse {base:.3f}")
print(f"R2 {1 - rmse ** 2 / base ** 2:.3f}")
