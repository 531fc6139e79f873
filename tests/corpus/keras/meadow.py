import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import keras
from keras import layers
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

keras.utils.set_random_seed(42)
data = load_breast_cancer()
x_train, x_test, y_train, y_test = train_test_split(
    data.data, data.target, test_size=0.25, stratify=data.target, random_state=42
)
scaler = StandardScaler()
x_train = scaler.fit_transform(x_train)
x_test = scaler.transform(x_test)

# columns 0-9 are means, 10-19 standard errors, 20-29 worst values
mean_in = keras.Input((10,), name="means")
worst_in = keras.Input((20,), name="others")
a = layers.Dense(16, activation="relu")(mean_in)
b = layers.Dense(24, activation="relu")(worst_in)
h = layers.Concatenate()([a, b])
h = layers.BatchNormalization()(h)
h = layers.Dropout(0.3)(h)
out = layers.Dense(1, activation="sigmoid", name="benign")(h)
model = keras.Model([mean_in, worst_in], out)
model.compile(keras.optimizers.Adam(2e-3), loss="binary_crossentropy", metrics=["accuracy"])
model.summary()

callbacks = [
    keras.callbacks.EarlyStopping(monitor="val_loss", patience=8, restore_best_weights=True),
    keras.callbacks.ReduceLROnPlateau(monitor="val_loss", patience=4, factor=0.5),
]
model.fit(
    {"means": x_train[:, :10], "others": x_train[:, 10:]}, y_train,
    validation_split=0.2, epochs=40, batch_size=32, callbacks=callbacks, verbose=2,
)

p = model.predict({"means": x_test[:, :10], "others": x_test[:, 10:]}, verbose=0).ravel()
print(f"auc {roc_auc_score(y_test, p):.4f}  f1 {f1_score(y_test, p > 0.5):.4f}")
