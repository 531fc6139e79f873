"""Customer churn from a survey table, tf.data pipeline + Keras MLP."""
import argparse

import keras
import numpy as np
import tensorflow as tf
from keras import layers

parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=2500)
parser.add_argument("--epochs", type=int, default=60)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--seed", type=int, default=13)
args = parser.parse_args()

keras.utils.set_random_seed(args.seed)
rng = np.random.default_rng(args.seed)

N_FEATURES = 30
W = rng.normal(size=N_FEATURES) * (rng.random(N_FEATURES) < 0.4)


def survey(n):
    x = rng.normal(size=(n, N_FEATURES)).astype("float32")
    score = 0.8 * x @ W + 0.8 * x[:, 0] * x[:, 1] + rng.logistic(size=n)
    return x, (score > 0).astype("float32")[:, None]


x, y = survey(args.rows)
x_later, y_later = survey(2000)

n_val = int(0.3 * args.rows)
ds = tf.data.Dataset.from_tensor_slices((x, y))
ds = ds.shuffle(args.rows, seed=args.seed)
val_ds = ds.take(n_val).batch(args.batch)
train_ds = ds.skip(n_val).shuffle(512).batch(args.batch).prefetch(2)

model = keras.Sequential([
    keras.Input((N_FEATURES,)),
    layers.Dense(96, activation="relu"),
    layers.Dropout(0.2),
    layers.Dense(96, activation="relu"),
    layers.Dropout(0.2),
    layers.Dense(1, activation="sigmoid"),
])
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="binary_crossentropy",
    metrics=["accuracy", keras.metrics.AUC(name="auc")],
)


class Every(keras.callbacks.Callback):
    def __init__(self, k):
        super().__init__()
        self.k = k

    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % self.k == 0:
            print(f"epoch {epoch + 1:3d} "
                  + " ".join(f"{n} {v:.3f}" for n, v in (logs or {}).items()))


stop = keras.callbacks.EarlyStopping(
    monitor="val_loss", patience=8, restore_best_weights=True)
model.fit(train_ds, validation_data=val_ds, epochs=args.epochs, verbose=0,
          callbacks=[stop, Every(5)])

val = model.evaluate(val_ds, verbose=0, return_dict=True)
later = model.evaluate(x_later, y_later, verbose=0, return_dict=True)
base = max(y_later.mean(), 1 - y_later.mean())
print(f"validation accuracy {val['accuracy']:.3f} auc {val['auc']:.3f}")
print(f"next quarter accuracy {later['accuracy']:.3f} auc {later['auc']:.3f} (majority {base:.3f})")
