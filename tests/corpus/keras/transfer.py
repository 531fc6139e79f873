# Pretrain a small conv autoencoder on unlabelled digits, then use the encoder for classification
import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(3)
digits = load_digits()
images = (digits.images / 16.0).astype("float32")[..., None]
x_train, x_test, y_train, y_test = train_test_split(
    images, digits.target, test_size=0.25, stratify=digits.target, random_state=0)

encoder = keras.Sequential([
    keras.Input((8, 8, 1)),
    layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
    layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
    layers.Flatten(),
    layers.Dense(12, activation="relu"),
], name="encoder")
decoder = keras.Sequential([
    keras.Input((12,)),
    layers.Dense(128, activation="relu"),
    layers.Dense(64, activation="sigmoid"),
    layers.Reshape((8, 8, 1)),
], name="decoder")

inp = keras.Input((8, 8, 1))
autoencoder = keras.Model(inp, decoder(encoder(inp)))
autoencoder.compile(keras.optimizers.Adam(3e-3), "mse")
hist = autoencoder.fit(x_train, x_train, epochs=10, batch_size=32, verbose=0)
print("reconstruction mse:", [round(v, 4) for v in hist.history["loss"]])

# stage 1: new head on top of the fixed encoder
encoder.trainable = False
inp = keras.Input((8, 8, 1))
out = layers.Dense(10, activation="softmax")(encoder(inp))
classifier = keras.Model(inp, out)
classifier.compile(keras.optimizers.Adam(1e-2), "sparse_categorical_crossentropy", metrics=["accuracy"])
print("--- head only")
classifier.fit(x_train, y_train, epochs=6, batch_size=32, validation_data=(x_test, y_test), verbose=2)

# stage 2: fine-tune everything
print("--- fine-tuning the whole network")
encoder.trainable = True
classifier.optimizer.learning_rate = 2e-3
classifier.fit(x_train, y_train, epochs=15, batch_size=32, validation_data=(x_test, y_test), verbose=2)

loss, acc = classifier.evaluate(x_test, y_test, verbose=0)
print(f"final test accuracy {acc:.3f}, parameters {classifier.count_params()}")
