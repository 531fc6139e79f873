import argparse

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=15)
parser.add_argument("--batch-size", type=int, default=32)
parser.add_argument("--lr", type=float, default=1e-3)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()

keras.utils.set_random_seed(args.seed)

digits = load_digits()
images = digits.images[..., None].astype("float32") / 16.0
x_train, x_test, y_train, y_test = train_test_split(
    images, digits.target, test_size=0.2, stratify=digits.target, random_state=args.seed
)

model = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(64, 3, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dropout(0.25),
        layers.Dense(10),
    ]
)

schedule = keras.optimizers.schedules.ExponentialDecay(
    initial_learning_rate=args.lr, decay_steps=1, decay_rate=0.9
)
model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=schedule),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
history = model.fit(
    x_train,
    y_train,
    batch_size=args.batch_size,
    epochs=args.epochs,
    validation_data=(x_test, y_test),
    verbose=2,
)
print("best val accuracy", max(history.history["val_accuracy"]))
print("per class", np.bincount(model.predict(x_test, verbose=0).argmax(1), minlength=10))
