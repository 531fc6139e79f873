import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


class MassClassifier(keras.Model):
    def __init__(self, hidden=16, rate=0.5):
        super().__init__()
        self.blocks = [
            keras.Sequential([
                layers.Dense(hidden, activation="relu"),
                layers.BatchNormalization(),
                layers.Dropout(rate),
            ])
            for _ in range(2)
        ]
        self.out = layers.Dense(1)

    def call(self, x, training=False):
        for block in self.blocks:
            x = block(x, training=training)
        return self.out(x)


class Trainer:
    def __init__(self, model, lr=2e-3):
        self.model = model
        self.opt = keras.optimizers.Adam(lr)
        self.loss = keras.losses.BinaryCrossentropy(from_logits=True)

    @tf.function
    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.model(x, training=True)
            loss = self.loss(y, logits)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss

    def evaluate(self, dataset):
        acc = keras.metrics.BinaryAccuracy(threshold=0.0)
        loss = keras.metrics.Mean()
        for x, y in dataset:
            logits = self.model(x, training=True)
            acc.update_state(y, logits)
            loss.update_state(self.loss(y, logits))
        return float(loss.result()), float(acc.result())

    def run(self, train, test, epochs):
        for epoch in range(epochs):
            losses = [float(self.train_step(x, y)) for x, y in train]
            val_loss, val_acc = self.evaluate(test)
            print(f"{epoch:2d}  loss {np.mean(losses):.4f}  val_loss {val_loss:.4f}  val_acc {val_acc:.4f}")


keras.utils.set_random_seed(2)
data = load_breast_cancer()
x_tr, x_te, y_tr, y_te = train_test_split(
    data.data, data.target.reshape(-1, 1).astype("float32"), test_size=0.25, random_state=2, stratify=data.target)
scaler = StandardScaler().fit(x_tr)
x_tr, x_te = scaler.transform(x_tr).astype("float32"), scaler.transform(x_te).astype("float32")

train = tf.data.Dataset.from_tensor_slices((x_tr, y_tr)).shuffle(len(x_tr), seed=2).batch(32, drop_remainder=True)
test = tf.data.Dataset.from_tensor_slices((x_te, y_te)).batch(4)
Trainer(MassClassifier()).run(train, test, epochs=25)
