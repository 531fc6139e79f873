import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(6)
EPS = 0.1


class RobustModel(keras.Model):
    """Half of the loss comes from inputs moved in the direction that raises the loss."""

    def attack(self, x, y):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = self.compute_loss(x, y, self(x, training=False))
        return tf.stop_gradient(tf.clip_by_value(x + EPS * tf.sign(tape.gradient(loss, x)), 0.0, 1.0))

    def train_step(self, data):
        x, y = data
        x_adv = self.attack(x, y)
        with tf.GradientTape() as tape:
            clean = self(x, training=True)
            adv = self(x_adv, training=True)
            loss = 0.5 * self.compute_loss(x, y, clean) + 0.5 * self.compute_loss(x, y, adv)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(grads, self.trainable_variables)
        return {**self.compute_metrics(x, y, adv), "loss": loss}


X, y = load_digits(return_X_y=True)
X = (X / 16).astype("float32").reshape(-1, 8, 8, 1)
X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.25, random_state=6)

inp = keras.Input((8, 8, 1))
h = layers.Conv2D(32, 3, padding="same", activation="relu")(inp)
h = layers.Conv2D(32, 3, strides=2, activation="relu")(h)
h = layers.Flatten()(h)
h = layers.Dense(64, activation="relu")(h)
model = RobustModel(inp, layers.Dense(10)(h))
model.compile(optimizer=keras.optimizers.Adam(2e-3),
              loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
              metrics=["accuracy"])
model.fit(X_tr, y_tr, epochs=15, batch_size=64, verbose=2)

print("clean test accuracy    %.3f" % model.evaluate(X_te, y_te, verbose=0)[1])
X_adv = model.attack(tf.constant(X_te), tf.constant(y_te))
print("attacked test accuracy %.3f" % model.evaluate(X_adv, y_te, verbose=0)[1])
