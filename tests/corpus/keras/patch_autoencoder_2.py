import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

CODE = 12


def build(noise):
    encoder = keras.Sequential([
        layers.Input((64,)),
        layers.GaussianNoise(noise),
        layers.Dense(48, activation="relu"),
        layers.Dense(CODE),
    ], name="encoder")
    decoder = keras.Sequential([
        layers.Input((CODE,)),
        layers.Dense(48, activation="relu"),
        layers.Dense(64, activation="sigmoid"),
    ], name="decoder")
    inputs = layers.Input((64,))
    return encoder, keras.Model(inputs, decoder(encoder(inputs)))


def pixel_mse(a, b):
    return float(np.mean((a - b) ** 2))


def main():
    keras.utils.set_random_seed(14)
    digits = load_digits()
    x = (digits.data / 16.0).astype("float32")
    x_tr, x_te, y_tr, y_te = train_test_split(x, digits.target, test_size=0.3, random_state=2)

    encoder, auto = build(noise=0.2)
    auto.compile(optimizer=keras.optimizers.Adam(2e-3), loss="binary_crossentropy")
    history = auto.fit(x_tr, x_tr, validation_data=(x_te, x_te), epochs=40,
                       batch_size=32, verbose=0)
    for e in range(0, 40, 8):
        print(f"epoch {e:02d} loss {history.history['loss'][e]:.4f} "
              f"val {history.history['val_loss'][e]:.4f}")

    recon = auto.predict(x_te, verbose=0)
    mean_image = np.repeat(x_tr.mean(0, keepdims=True), len(x_te), 0)
    print("reconstruction mse", round(pixel_mse(x_te, recon), 5),
          "mean image mse", round(pixel_mse(x_te, mean_image), 5))

    z_tr = encoder.predict(x_tr, verbose=0)
    z_te = encoder.predict(x_te, verbose=0)
    probe = LogisticRegression(max_iter=2000).fit(z_tr, y_tr)
    print("final loss", round(history.history["loss"][-1], 4))
    print("probe accuracy on the codes", round(probe.score(z_te, y_te), 4))


if __name__ == "__main__":
    main()
