import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(21)

x, y = load_diabetes(return_X_y=True, scaled=False)
x_train, x_test, y_train, y_test = train_test_split(
    x.astype("float32"), y.astype("float32"), test_size=0.25, random_state=21)

norm = layers.Normalization()
norm.adapt(x_train)

# targets lie between 25 and 346: put the scale back in the last layer
y_mean, y_std = float(y_train.mean()), float(y_train.std())
inputs = keras.Input((x.shape[1],))
h = norm(inputs)
h = layers.Dense(32, activation="relu", kernel_regularizer=keras.regularizers.L2(1e-3))(h)
h = layers.Dropout(0.2)(h)
h = layers.Dense(16, activation="relu")(h)
h = layers.Dense(1)(h)
outputs = layers.Rescaling(scale=y_std, offset=y_mean)(h)
model = keras.Model(inputs, outputs)

model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mae", metrics=["mse"])
model.fit(
    x_train, y_train, validation_split=0.2, epochs=150, batch_size=32, verbose=0,
    callbacks=[
        keras.callbacks.EarlyStopping(patience=20, restore_best_weights=True),
        keras.callbacks.ReduceLROnPlateau(patience=8, factor=0.5),
    ],
)
hist = model.history.history
for e in range(0, len(hist["loss"]), 10):
    print(f"epoch {e + 1:3d}  mae {hist['loss'][e]:.1f}  val {hist['val_loss'][e]:.1f}")

pred = model.predict(x_test, verbose=0)[:, 0]
print("network R2", round(r2_score(y_test, pred), 3), " mae", round(float(np.abs(pred - y_test).mean()), 1))
print("linear  R2", round(LinearRegression().fit(x_train, y_train).score(x_test, y_test), 3))
