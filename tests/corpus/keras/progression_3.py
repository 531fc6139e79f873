import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(3)
BATCH = 32


def to_clinic_units(x):
    """The bundled table is scaled to tiny numbers; the clinic's export is in wide raw units."""
    gain = np.array([300, 10, 900, 250, 700, 600, 260, 27, 11, 240], "float32")
    shift = np.array([48, 1.5, 26, 95, 189, 115, 50, 4, 4.6, 91], "float32")
    return (x * gain + shift).astype("float32")


def add_products(x, y):
    bmi, bp = x[:, 2:3], x[:, 3:4]
    return tf.concat([x, bmi * bp, tf.square(bmi)], axis=1), y


def as_dataset(x, y, train):
    ds = tf.data.Dataset.from_tensor_slices((x, y[:, None].astype("float32")))
    if train:
        ds = ds.shuffle(len(x), seed=5)
    return ds.batch(BATCH).map(add_products, num_parallel_calls=1).prefetch(1)


def make_model(train_ds, mean_target):
    scale = layers.Normalization(axis=-1)
    scale.adapt(train_ds.map(lambda x, y: x))
    inp = keras.Input((12,))
    h = scale(inp)
    h = layers.Dense(16, activation="relu")(h)
    out = layers.Dense(1, bias_initializer=keras.initializers.Constant(mean_target),
                       kernel_regularizer=keras.regularizers.L2(1.0))(h)
    return keras.Model(inp, out)


x, y = load_diabetes(return_X_y=True)
x = to_clinic_units(x)
x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.25, random_state=0)
train_ds, test_ds = as_dataset(x_tr, y_tr, True), as_dataset(x_te, y_te, False)

model = make_model(train_ds, float(y_tr.mean()))
steps = len(train_ds) * 60
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(2e-2, steps)),
              loss="mse", metrics=["mae"])
hist = model.fit(train_ds, epochs=60, shuffle=False, verbose=0)
for e in (0, 19, 39, 59):
    print(f"epoch {e + 1:2d} loss {hist.history['loss'][e]:9.1f}  mae {hist.history['mae'][e]:.2f}")

pred = model.predict(test_ds, verbose=0)[:, 0]
sse, sst = np.sum((pred - y_te) ** 2), np.sum((y_te - y_tr.mean()) ** 2)
print(f"test MSE {sse / len(y_te):.1f}  MAE {np.abs(pred - y_te).mean():.2f}  "
      f"(mean predictor MSE {sst / len(y_te):.1f})  R2 {1 - sse / sst:.3f}")
