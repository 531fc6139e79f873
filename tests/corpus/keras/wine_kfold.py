# 5-fold cross validation of a small MLP on the wine data
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from tensorflow import keras
from tensorflow.keras import layers, regularizers

SEED = 13
EPOCHS = 25
keras.utils.set_random_seed(SEED)

wine = load_wine()
X, y = wine.data, wine.target
print("samples", X.shape, "classes", np.bincount(y))

optimizer = keras.optimizers.Adam(learning_rate=3e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy()


def build_model(n_features, n_classes, optimizer):
    model = keras.Sequential(name="wine_mlp")
    model.add(layers.Input((n_features,)))
    model.add(layers.Dense(32, activation="relu", kernel_regularizer=regularizers.l2(1e-4)))
    model.add(layers.Dropout(0.2))
    model.add(layers.Dense(16, activation="relu", kernel_regularizer=regularizers.l2(1e-4)))
    model.add(layers.Dense(n_classes, activation="softmax"))
    model.compile(optimizer=optimizer, loss=loss_fn, metrics=["accuracy"])
    return model


scores = []
folds = StratifiedKFold(n_splits=5, shuffle=True, random_state=SEED)
for k, (tr, te) in enumerate(folds.split(X, y), start=1):
    scaler = StandardScaler()
    X_tr = scaler.fit_transform(X[tr])
    X_te = scaler.transform(X[te])

    model = build_model(X.shape[1], 3, optimizer)
    hist = model.fit(X_tr, y[tr], epochs=EPOCHS, batch_size=16, verbose=0)
    loss, acc = model.evaluate(X_te, y[te], verbose=0)
    print(f"fold {k}: train acc {hist.history['accuracy'][-1]:.3f}  test acc {acc:.3f}  loss {loss:.3f}")
    scores.append(acc)

print("accuracy: %.3f +- %.3f" % (np.mean(scores), np.std(scores)))
