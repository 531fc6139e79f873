"""Convolutional autoencoder for handwritten digits with a hand-written loop."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(11)


def make_encoder(code_size):
    return keras.Sequential(
        [
            layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
            layers.Flatten(),
            layers.Dense(code_size),
        ],
        name="encoder",
    )


def make_decoder(code_size):
    return keras.Sequential(
        [
            keras.Input(shape=(code_size,)),
            layers.Dense(2 * 2 * 32, activation="relu"),
            layers.Reshape((2, 2, 32)),
            layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2DTranspose(1, 3, strides=2, padding="same"),
        ],
        name="decoder",
    )


class AutoencoderTrainer:
    def __init__(self, code_size=4, lr=3e-3):
        self.encoder = make_encoder(code_size)
        self.decoder = make_decoder(code_size)
        self.optimizer = keras.optimizers.Adam(lr)
        self.weights = self.encoder.trainable_variables + self.decoder.trainable_variables

    @tf.function
    def step(self, batch):
        with tf.GradientTape() as tape:
            rebuilt = self.decoder(self.encoder(batch, training=True), training=True)
            loss = tf.reduce_mean(tf.square(rebuilt - batch))
        grads = tape.gradient(loss, self.weights)
        self.optimizer.apply_gradients(zip(grads, self.weights))
        return loss

    def fit(self, images, epochs=25, batch_size=64):
        ds = tf.data.Dataset.from_tensor_slices(images)
        ds = ds.shuffle(len(images), seed=0).batch(batch_size, drop_remainder=True)
        for epoch in range(epochs):
            losses = [float(self.step(b)) for b in ds]
            if epoch % 5 == 0:
                print(f"epoch {epoch:2d}  reconstruction {np.mean(losses):.4f}")
        return self

    def rebuild(self, images):
        return self.decoder(self.encoder(images)).numpy()


images, labels = load_digits(return_X_y=True)
images = (images / 16.0).astype("float32").reshape(-1, 8, 8, 1)
x_train, x_test, y_train, y_test = train_test_split(
    images, labels, test_size=0.25, random_state=0, stratify=labels
)

trainer = AutoencoderTrainer().fit(x_train)

test_mse = float(np.mean((trainer.rebuild(x_test) - x_test) ** 2))
mean_mse = float(np.mean((x_train.mean(axis=0) - x_test) ** 2))
probe = LogisticRegression(max_iter=2000)
probe.fit(trainer.encoder(x_train).numpy(), y_train)
probe_acc = probe.score(trainer.encoder(x_test).numpy(), y_test)
print(f"test reconstruction mse {test_mse:.4f}  (mean image {mean_mse:.4f})")
print(f"digit accuracy of a linear probe on the codes {probe_acc:.3f}")
