import keras
import numpy as np
from keras import layers, ops
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

keras.utils.set_random_seed(4)
BITS = 16


class Binarize(layers.Layer):
    """Turns bit probabilities into a code of zeros and ones."""

    def call(self, p):
        code = ops.cast(p > 0.5, "float32")
        return code


x, y = load_digits(return_X_y=True)
x = (x / 16.0).astype("float32")
order = np.random.permutation(len(x))
x, y = x[order], y[order]
x_train, x_test, y_train, y_test = x[:1400], x[1400:], y[:1400], y[1400:]

encoder = keras.Sequential([
    keras.Input((64,)),
    layers.Dense(64, activation="relu"),
    layers.Dense(BITS, activation="sigmoid"),
    Binarize(),
], name="encoder")
decoder = keras.Sequential([
    keras.Input((BITS,)),
    layers.Dense(64, activation="relu"),
    layers.Dense(64, activation="sigmoid"),
], name="decoder")

image = keras.Input((64,))
autoencoder = keras.Model(image, decoder(encoder(image)))
autoencoder.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse")
history = autoencoder.fit(x_train, x_train, validation_data=(x_test, x_test),
                          epochs=40, batch_size=64, verbose=0)
for e in range(0, 40, 8):
    print(f"epoch {e + 1:2d}  mse {history.history['loss'][e]:.4f}  val {history.history['val_loss'][e]:.4f}")
print("val mse", round(history.history["val_loss"][-1], 4), " variance of the data", round(float(x_train.var(0).mean()), 4))

codes_train, codes_test = encoder.predict(x_train, verbose=0), encoder.predict(x_test, verbose=0)
print("distinct codes:", len(np.unique(codes_train, axis=0)))
knn = KNeighborsClassifier(5, metric="hamming").fit(codes_train, y_train)
print("digit found by its code:", round(knn.score(codes_test, y_test), 3))
