import os
import tempfile
import numpy as np
import tf_keras as keras
from tf_keras import layers
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score, average_precision_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

keras.utils.set_random_seed(1)

# --- data: 6 % fraud ---------------------------------------------------
X, y = make_classification(n_samples=9000, n_features=25, n_informative=12,
                           n_redundant=4, n_clusters_per_class=3,
                           weights=[0.94], class_sep=0.9, flip_y=0.01,
                           random_state=1)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2,
                                                    stratify=y, random_state=1)
X_train, X_val, y_train, y_val = train_test_split(X_train, y_train, test_size=0.2,
                                                  stratify=y_train, random_state=1)
scaler = StandardScaler().fit(X_train)
X_train, X_val, X_test = (scaler.transform(a) for a in (X_train, X_val, X_test))

neg, pos = np.bincount(y_train)
class_weight = {0: len(y_train) / (2 * neg), 1: len(y_train) / (2 * pos)}

# --- model -------------------------------------------------------------
model = keras.Sequential([
    layers.Input(shape=(X_train.shape[1],)),
    layers.Dense(64, activation="relu"),
    layers.Dropout(0.2),
    layers.Dense(32, activation="relu"),
    layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer=keras.optimizers.Adam(5e-4),
              loss="binary_crossentropy",
              metrics=[keras.metrics.AUC(name="auc"),
                       keras.metrics.Recall(name="recall")])

path = os.path.join(tempfile.mkdtemp(), "best.weights.h5")
checkpoint = keras.callbacks.ModelCheckpoint(
    path,
    monitor="val_auc",
    save_best_only=True,
    save_weights_only=True,
)

history = model.fit(X_train, y_train,
                    validation_data=(X_val, y_val),
                    epochs=20, batch_size=64,
                    class_weight=class_weight,
                    callbacks=[checkpoint], verbose=2)

# --- final evaluation with the best weights ----------------------------
model.load_weights(path)
p = model.predict(X_test, verbose=0).ravel()
print("last val_auc in training:", round(history.history["val_auc"][-1], 4))
print("test ROC AUC :", round(roc_auc_score(y_test, p), 4))
print("test PR AUC  :", round(average_precision_score(y_test, p), 4))
