"""Learn features on the digits 0-4, then reuse them for 5-9."""
import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits

keras.utils.set_random_seed(5)
X, y = load_digits(return_X_y=True)
X = (X.reshape(-1, 8, 8, 1) / 16.0).astype("float32")
rng = np.random.default_rng(5)
order = rng.permutation(len(X))
X, y = X[order], y[order]

low, high = y < 5, y >= 5
X_src, y_src = X[low], y[low]
X_new, y_new = X[high], y[high] - 5
X_new_tr, y_new_tr = X_new[:300], y_new[:300]
X_new_te, y_new_te = X_new[300:], y_new[300:]

backbone = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        layers.Conv2D(16, 3, activation="relu", padding="same"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu", padding="same"),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
    ],
    name="backbone",
)

source = keras.Sequential([backbone, layers.Dense(5, activation="softmax")])
source.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
source.fit(X_src, y_src, epochs=8, batch_size=32, verbose=2)

target = keras.Sequential(
    [
        backbone,
        layers.Dropout(0.2),
        layers.Dense(32, activation="relu"),
        layers.Dense(5, activation="softmax"),
    ]
)
for layer in target.layers:
    layer.trainable = False

target.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
stop = keras.callbacks.EarlyStopping(monitor="val_loss", patience=10, restore_best_weights=True)
target.fit(X_new_tr, y_new_tr, epochs=15, batch_size=32, validation_split=0.2, callbacks=[stop], verbose=2)
print("accuracy on unseen 5-9:", target.evaluate(X_new_te, y_new_te, verbose=0)[1])
