import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)


class Denoiser(keras.Model):
    """An autoencoder that is shown noisy rows and has to give back clean ones."""

    def __init__(self, width, sigma=0.3):
        super().__init__()
        self.sigma = sigma
        self.encoder = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(8)])
        self.decoder = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(width)])
        self.tracker = keras.metrics.Mean(name="loss")

    def call(self, x):
        return self.decoder(self.encoder(x))

    def train_step(self, data):
        noisy = data + self.sigma * tf.random.normal(tf.shape(data))
        with tf.GradientTape() as tape:
            restored = self(noisy, training=True)
            loss = tf.reduce_mean(tf.square(restored - data))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}

    @property
    def metrics(self):
        return [self.tracker]


rng = np.random.default_rng(0)
rows = (rng.normal(size=(3000, 4)) @ rng.normal(size=(4, 24))).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices(rows).shuffle(3000).batch(32)
model = Denoiser(24)
model.compile(optimizer=keras.optimizers.Adam(3e-3))
model.fit(dataset, epochs=3, verbose=2)
