import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tensorflow import keras
from tensorflow.keras import layers


class SemiSupervisedNet(keras.Model):
    """Autoencoder with a classification head on the code."""

    def __init__(self, code_size=24, n_classes=10, **kwargs):
        super().__init__(**kwargs)
        self.encoder = keras.Sequential(
            [layers.Dense(96, activation="relu"), layers.Dense(code_size, activation="relu")]
        )
        self.decoder = keras.Sequential(
            [layers.Dense(96, activation="relu"), layers.Dense(64, activation="sigmoid")]
        )
        self.head = layers.Dense(n_classes)
        self.label_weight = 0.0
        self.rec_tracker = keras.metrics.Mean(name="rec")
        self.acc_tracker = keras.metrics.SparseCategoricalAccuracy(name="acc")
        self.ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @property
    def metrics(self):
        return [self.rec_tracker, self.acc_tracker]

    def call(self, x, training=False):
        code = self.encoder(x, training=training)
        return self.decoder(code, training=training), self.head(code)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            rec, logits = self(x, training=True)
            rec_loss = tf.reduce_mean(tf.square(x - rec))
            loss = rec_loss + self.label_weight * self.ce(y, logits)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.rec_tracker.update_state(rec_loss)
        self.acc_tracker.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        rec, logits = self(x, training=False)
        self.rec_tracker.update_state(tf.reduce_mean(tf.square(x - rec)))
        self.acc_tracker.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}


class RampLabels(keras.callbacks.Callback):
    def __init__(self, start, length, top):
        super().__init__()
        self.start, self.length, self.top = start, length, top

    def on_epoch_begin(self, epoch, logs=None):
        share = min(max((epoch - self.start) / self.length, 0.0), 1.0)
        self.model.label_weight = self.top * share
        if epoch % 5 == 0:
            print(f"epoch {epoch}: label weight {self.top * share:.2f}")


def main():
    keras.utils.set_random_seed(3)
    x, y = load_digits(return_X_y=True)
    x = (x / 16.0).astype("float32")
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.25, stratify=y, random_state=0)

    net = SemiSupervisedNet()
    net.compile(optimizer=keras.optimizers.Adam(2e-3))
    net.fit(
        x_tr,
        y_tr,
        epochs=25,
        batch_size=32,
        validation_data=(x_te, y_te),
        callbacks=[RampLabels(start=5, length=10, top=1.0)],
        verbose=2,
    )
    rec, logits = net.predict(x_te, verbose=0)
    print("test reconstruction mse:", round(float(np.mean((rec - x_te) ** 2)), 4))
    print("test accuracy:", round(float((logits.argmax(-1) == y_te).mean()), 3))


if __name__ == "__main__":
    main()
