"""Mixup in a custom train_step, on machine sensors of very different ranges."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(1)

# four machine states seen through 12 sensors (volts, pascals, kelvins, rpm, ...)
rng = np.random.default_rng(1)
centres = rng.normal(size=(4, 12)) * 0.9
state = rng.integers(0, 4, 2000)
units = 10.0 ** rng.uniform(-2, 4, 12)
offsets = units * rng.uniform(-5, 5, 12)
readings = ((centres[state] + rng.normal(size=(2000, 12))) * units + offsets).astype("float32")
onehot = keras.utils.to_categorical(state, 4)


class MixupClassifier(keras.Model):
    def __init__(self, classes, alpha=0.2):
        super().__init__()
        self.alpha = alpha
        self.blocks = []
        self.norm_in = layers.BatchNormalization()
        for width in (64, 32):
            self.blocks.append(layers.Dense(width))
            self.blocks.append(layers.BatchNormalization())
            self.blocks.append(layers.Activation("relu"))
        self.head = layers.Dense(classes, activation="softmax")

    def call(self, x, training=None):
        x = self.norm_in(x, training=training)
        for layer in self.blocks:
            x = layer(x, training=training) if isinstance(layer, layers.BatchNormalization) else layer(x)
        return self.head(x)

    def train_step(self, data):
        x, y = data
        lam = tf.random.uniform([], 1.0 - self.alpha, 1.0)
        perm = tf.random.shuffle(tf.range(tf.shape(x)[0]))
        x = lam * x + (1.0 - lam) * tf.gather(x, perm)
        y_mix = lam * y + (1.0 - lam) * tf.gather(y, perm)
        with tf.GradientTape() as tape:
            pred = self(x)
            loss = self.compute_loss(x=x, y=y_mix, y_pred=pred)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, pred)
        return {m.name: m.result() for m in self.metrics}


model = MixupClassifier(4)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="categorical_crossentropy", metrics=["accuracy"])
model.fit(readings[:1500], onehot[:1500], batch_size=50, epochs=15,
          validation_data=(readings[1500:], onehot[1500:]), verbose=2)
print("validation:", model.evaluate(readings[1500:], onehot[1500:], verbose=0))
