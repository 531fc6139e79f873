"""Denoise and name digits with one net: shared body, two heads, uncertainty-weighted losses (Keras, train_step)."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits

keras.utils.set_random_seed(19)
raw = load_digits()
images = (raw.images / 16.0)[..., None].astype("float32")
labels = raw.target.astype("int64")
order = np.random.permutation(len(images))
train, val, test = order[:1200], order[1200:1400], order[1400:]


class TwoHeads(keras.Model):
    """loss = sum_i exp(-s_i) * L_i + s_i  with a learned s_i for each head."""

    def __init__(self, noise=0.25):
        super().__init__()
        self.noise = layers.GaussianNoise(noise)
        self.body = keras.Sequential([
            layers.Conv2D(24, 3, padding="same", activation="relu"),
            layers.Conv2D(24, 3, padding="same", activation="relu"),
        ])
        self.picture = keras.Sequential([layers.Conv2D(16, 3, padding="same", activation="relu"),
                                         layers.Conv2D(1, 3, padding="same", activation="sigmoid")])
        self.name_head = keras.Sequential([layers.MaxPooling2D(), layers.Flatten(),
                                           layers.Dense(64, activation="relu"), layers.Dense(10)])
        self.s = self.add_weight(shape=(2,), initializer="zeros", name="log_variance")
        self.track_mse = keras.metrics.Mean(name="mse")
        self.track_acc = keras.metrics.SparseCategoricalAccuracy(name="acc")
        self.track_loss = keras.metrics.Mean(name="total")

    @property
    def metrics(self):
        return [self.track_loss, self.track_mse, self.track_acc]

    def call(self, x, training=False):
        h = self.body(x, training=training)
        return self.picture(h), self.name_head(h)

    def losses_of(self, noisy, clean, y, training):
        picture, logits = self(noisy, training=training)
        mse = tf.reduce_mean(tf.square(picture - clean))
        ce = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=True))
        total = tf.exp(-self.s[0]) * mse + tf.exp(-self.s[1]) * ce + self.s[0] + self.s[1]
        self.track_loss.update_state(total)
        self.track_mse.update_state(mse)
        self.track_acc.update_state(y, logits)
        return total

    def train_step(self, data):
        clean, y = data
        noisy = self.noise(clean, training=True)
        with tf.GradientTape() as tape:
            total = self.losses_of(noisy, clean, y, True)
        grads = tape.gradient(total, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        clean, y = data
        noisy = self.noise(clean, training=True)     # held-out pictures are noisy too
        self.losses_of(noisy, clean, y, False)
        return {m.name: m.result() for m in self.metrics}


model = TwoHeads()
model.compile(optimizer=keras.optimizers.Nadam(1e-3))
model.fit(images[train], labels[train], validation_data=(images[val], labels[val]),
          epochs=20, batch_size=48, verbose=0,
          callbacks=[keras.callbacks.LambdaCallback(on_epoch_end=lambda e, logs: e % 4 == 3 and print(
              f"epoch {e + 1:2d} total {logs['total']:.3f} val mse {logs['val_mse']:.4f} val acc {logs['val_acc']:.3f}"))])

result = model.evaluate(images[test], labels[test], verbose=0, return_dict=True)
print("learned log variances", np.round(model.s.numpy(), 2))
print(f"test: mse {result['mse']:.4f} (input noise {0.25 ** 2:.4f}), accuracy {result['acc']:.3f} (chance 0.100)")
