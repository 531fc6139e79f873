"""Learn an embedding of digits from triplets: same digit close together, different digits apart."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class TripletMaker:
    def __init__(self, images, labels, seed):
        self.images, self.labels = images, labels
        self.rng = np.random.default_rng(seed)
        self.by_class = [np.flatnonzero(labels == c) for c in np.unique(labels)]

    def sample(self, n):
        anchors, positives, negatives = [], [], []
        for _ in range(n):
            own, other = self.rng.choice(len(self.by_class), size=2, replace=False)
            anchor, positive = self.rng.choice(self.by_class[own], size=2)
            anchors.append(anchor)
            positives.append(positive)
            negatives.append(self.rng.choice(self.by_class[other]))
        return self.images[anchors], self.images[positives], self.images[negatives]


def build_encoder(dim):
    return keras.Sequential([
        keras.Input((8, 8, 1)),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(dim),
    ])


def euclidean(a, b):
    return tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=1))


class TripletModel(keras.Model):
    def __init__(self, encoder, margin=1.0):
        super().__init__()
        self.encoder = encoder
        self.margin = margin
        self.loss_tracker = keras.metrics.Mean(name="loss")

    def call(self, inputs, training=False):
        anchor, positive, negative = (self.encoder(part, training=training) for part in inputs)
        return euclidean(anchor, positive), euclidean(anchor, negative)

    def train_step(self, data):
        (triplet,) = data
        with tf.GradientTape() as tape:
            near, far = self(triplet, training=True)
            loss = tf.reduce_mean(tf.maximum(near - far + self.margin, 0.0))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}

    @property
    def metrics(self):
        return [self.loss_tracker]


def main():
    keras.utils.set_random_seed(9)
    data = load_digits()
    images = (data.images / 16.0).astype("float32")[..., None]
    x_train, x_test, y_train, y_test = train_test_split(images, data.target, test_size=0.3, random_state=9)

    triplets = TripletMaker(x_train, y_train, seed=9).sample(5000)
    stream = tf.data.Dataset.from_tensor_slices(triplets).shuffle(5000).batch(32)
    stream = stream.map(lambda a, p, n: ((a, p, n),))

    encoder = build_encoder(16)
    model = TripletModel(encoder)
    model.compile(optimizer=keras.optimizers.Adam(1e-3))
    model.fit(stream, epochs=8, verbose=2)

    codes_train = encoder.predict(x_train, verbose=0)
    codes_test = encoder.predict(x_test, verbose=0)
    nearest = np.argmin(((codes_test[:, None] - codes_train[None]) ** 2).sum(-1), axis=1)
    print("nearest neighbour in the embedding:", round(float(np.mean(y_train[nearest] == y_test)), 3))


if __name__ == "__main__":
    main()
