"""Transfer: a small CNN learns digits 0-4, then is re-used for 5-9 with few labels."""
import numpy as np
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(3)

X, y = load_digits(return_X_y=True)
X = (X / 16.0).reshape(-1, 8, 8, 1).astype("float32")
low, high = y < 5, y >= 5

# ---- source task ----
base = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        layers.Conv2D(8, 3, activation="relu"),
        layers.MaxPooling2D(2),
        layers.Conv2D(8, 3, activation="relu"),
        layers.Flatten(),
        layers.Dense(6, activation="tanh"),
    ],
    name="base",
)
source = keras.Sequential([base, layers.Dense(5, activation="softmax")])
source.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
source.fit(X[low], y[low], epochs=8, batch_size=64, verbose=0)
print("source task:", source.evaluate(X[low], y[low], verbose=0))

# ---- target task ----
Xt, Xv, yt, yv = train_test_split(
    X[high], y[high] - 5, train_size=400, stratify=y[high], random_state=0
)

base.trainable = False
target = keras.Sequential([base, layers.Dense(5, activation="softmax")])
target.compile(
    optimizer=keras.optimizers.Adam(1e-2),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
print("stage 1: head only")
target.fit(Xt, yt, validation_data=(Xv, yv), epochs=5, verbose=2)

base.trainable = True
print("stage 2: fine-tuning the whole network")
history = target.fit(Xt, yt, validation_data=(Xv, yv), epochs=12, verbose=2)

loss, acc = target.evaluate(Xv, yv, verbose=0)
print(f"final validation accuracy on 5-9: {acc:.3f} (loss {loss:.3f})")
