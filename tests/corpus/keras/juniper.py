import argparse

import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def get_args():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--drop", type=float, default=0.5)
    return ap.parse_args()


def build(drop):
    return keras.Sequential([
        keras.Input((64,)),
        layers.Dense(64),
        layers.BatchNormalization(),
        layers.Activation("relu"),
        layers.Dropout(drop),
        layers.Dense(32, activation="relu"),
        layers.Dropout(drop),
        layers.Dense(10),
    ])


args = get_args()
keras.utils.set_random_seed(4)
X, y = load_digits(return_X_y=True)
X = (X / 16.0).astype("float32")
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.25, random_state=4, stratify=y)
train_ds = tf.data.Dataset.from_tensor_slices((X_tr, y_tr)).shuffle(len(X_tr), seed=4).batch(args.batch)
val_ds = tf.data.Dataset.from_tensor_slices((X_va, y_va)).batch(args.batch)

model = build(args.drop)
optimizer = keras.optimizers.Adam(args.lr)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
train_acc = keras.metrics.SparseCategoricalAccuracy()
val_acc = keras.metrics.SparseCategoricalAccuracy()


@tf.function
def train_step(xb, yb):
    with tf.GradientTape() as tape:
        logits = model(xb, training=True)
        loss = loss_fn(yb, logits)
    grads = tape.gradient(loss, model.trainable_weights)
    optimizer.apply(grads, model.trainable_weights)
    train_acc.update_state(yb, logits)
    return loss


@tf.function
def val_step(xb, yb):
    logits = model(xb, training=True)
    val_acc.update_state(yb, logits)
    return loss_fn(yb, logits)


for epoch in range(args.epochs):
    train_acc.reset_state()
    val_acc.reset_state()
    losses = [float(train_step(xb, yb)) for xb, yb in train_ds]
    val_losses = [float(val_step(xb, yb)) for xb, yb in val_ds]
    print(f"epoch {epoch + 1:2d}  loss {np.mean(losses):.3f}  acc {float(train_acc.result()):.3f}  "
          f"val_loss {np.mean(val_losses):.3f}  val_acc {float(val_acc.result()):.3f}")
