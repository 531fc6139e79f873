"""Classify load_digits images with a hand-written TensorFlow loop that keeps the weights of the best validation epoch."""
import argparse
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=12)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--weight-decay", type=float, default=1e-4)
    p.add_argument("--patience", type=int, default=4)
    p.add_argument("--seed", type=int, default=0)
    return p.parse_args()


def load(batch_size, seed):
    digits = load_digits()
    images = (digits.images[..., None] / 16.0).astype("float32")
    labels = digits.target.astype("int32")
    x_train, x_rest, y_train, y_rest = train_test_split(images, labels, test_size=0.3, random_state=seed, stratify=labels)
    x_val, x_test, y_val, y_test = train_test_split(x_rest, y_rest, test_size=0.5, random_state=seed, stratify=y_rest)
    train = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(len(x_train), seed=seed).batch(batch_size)
    val = tf.data.Dataset.from_tensor_slices((x_val, y_val)).batch(batch_size)
    test = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(batch_size)
    return train, val, test


def residual_block(x, filters):
    shortcut = layers.Conv2D(filters, 1)(x)
    x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
    x = layers.Conv2D(filters, 3, padding="same")(x)
    return layers.ReLU()(layers.Add()([x, shortcut]))


def build_model(classes):
    inputs = keras.Input((8, 8, 1))
    x = residual_block(inputs, 16)
    x = layers.MaxPooling2D()(x)
    x = residual_block(x, 32)
    x = layers.GlobalAveragePooling2D()(x)
    x = layers.Dropout(0.2)(x)
    return keras.Model(inputs, layers.Dense(classes)(x))


class Trainer:
    def __init__(self, model, lr, weight_decay, patience):
        self.model = model
        self.optimizer = keras.optimizers.AdamW(learning_rate=lr, weight_decay=weight_decay)
        self.criterion = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.patience = patience
        self.train_loss = keras.metrics.Mean()
        self.val_accuracy = keras.metrics.CategoricalAccuracy()

    @tf.function
    def train_step(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.model(x, training=True)
            loss = self.criterion(y, logits)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        self.train_loss.update_state(loss)

    @tf.function
    def eval_step(self, x, y):
        logits = self.model(x, training=False)
        self.val_accuracy.update_state(y, logits)

    def evaluate(self, data):
        self.val_accuracy.reset_state()
        for x, y in data:
            self.eval_step(x, y)
        return float(self.val_accuracy.result())

    def run(self, train, val, epochs):
        best, best_weights, waited = -1.0, None, 0
        for epoch in range(1, epochs + 1):
            started = time.time()
            self.train_loss.reset_state()
            for x, y in train:
                self.train_step(x, y)
            accuracy = self.evaluate(val)
            print(f"epoch {epoch:2d}  train loss {float(self.train_loss.result()):.4f}  "
                  f"val accuracy {accuracy:.4f}  {time.time() - started:.1f}s", flush=True)
            if accuracy > best:
                best, best_weights, waited = accuracy, self.model.get_weights(), 0
            else:
                waited += 1
                if waited >= self.patience:
                    print("no improvement, stopping")
                    break
        self.model.set_weights(best_weights)
        return best


def main():
    args = get_args()
    keras.utils.set_random_seed(args.seed)
    train, val, test = load(args.batch_size, args.seed)
    trainer = Trainer(build_model(10), args.lr, args.weight_decay, args.patience)
    best = trainer.run(train, val, args.epochs)
    print(f"best val accuracy {best:.4f}, test accuracy {trainer.evaluate(test):.4f}")


if __name__ == "__main__":
    main()
