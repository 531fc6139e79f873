import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

keras.utils.set_random_seed(1)
X, y = load_wine(return_X_y=True)


def build_model(n_features, n_classes):
    inputs = keras.Input((n_features,))
    h = layers.Dense(32, activation="relu")(inputs)
    h = layers.Dropout(0.2)(h)
    h = layers.Dense(16, activation="relu")(h)
    return keras.Model(inputs, layers.Dense(n_classes, activation="softmax")(h))


schedule = keras.optimizers.schedules.ExponentialDecay(5e-3, decay_steps=100, decay_rate=0.9)
optimizer = keras.optimizers.Adam(learning_rate=schedule)
stop = keras.callbacks.EarlyStopping(monitor="val_loss", patience=10, restore_best_weights=True)

scores = []
folds = StratifiedKFold(n_splits=3, shuffle=True, random_state=0)
for k, (train_idx, test_idx) in enumerate(folds.split(X, y)):
    scaler = StandardScaler().fit(X[train_idx])
    x_train, x_test = scaler.transform(X[train_idx]), scaler.transform(X[test_idx])
    model = build_model(X.shape[1], 3)
    model.compile(
        optimizer=optimizer,
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    model.fit(
        x_train, y[train_idx], validation_split=0.15, shuffle=True,
        epochs=25, batch_size=16, callbacks=[stop], verbose=0,
    )
    loss, acc = model.evaluate(x_test, y[test_idx], verbose=0)
    print(f"fold {k + 1}: loss {loss:.3f} accuracy {acc:.3f}")
    scores.append(acc)

print(f"mean accuracy {np.mean(scores):.3f} +- {np.std(scores):.3f}")
