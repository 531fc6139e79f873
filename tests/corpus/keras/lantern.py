"""Short customer messages -> complaint or praise."""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import random

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(7)
random.seed(7)

things = ["room", "breakfast", "pool", "staff", "bed", "view", "lobby", "parking"]
good = ["lovely", "great", "clean", "friendly", "superb", "pleasant"]
bad = ["dirty", "awful", "rude", "noisy", "broken", "smelly"]
glue = ["really", "quite", "very", "so", "just"]


def message():
    label = random.randint(0, 1)
    words = []
    for _ in range(random.randint(1, 3)):
        adj = random.choice(good if label else bad)
        words += ["the", random.choice(things), "was", random.choice(glue), adj]
        if random.random() < 0.3:
            words += ["and", "i", "told", "my", "friends"]
    return " ".join(words), label


texts, labels = zip(*[message() for _ in range(2400)])
labels = np.array(labels)

vectorize = layers.TextVectorization(max_tokens=2000, output_sequence_length=100)
vectorize.adapt(list(texts))
ids = vectorize(tf.constant(texts)).numpy()
x_train, y_train = ids[:2000], labels[:2000]
x_test, y_test = ids[2000:], labels[2000:]

inputs = keras.Input((100,), dtype="int64")
h = layers.Embedding(vectorize.vocabulary_size(), 32)(inputs)
h = layers.LSTM(32)(h)
h = layers.Dense(16, activation="relu")(h)
outputs = layers.Dense(1, activation="sigmoid")(h)
model = keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])

model.fit(x_train, y_train, batch_size=64, epochs=6, validation_split=0.1, verbose=2)
loss, acc = model.evaluate(x_test, y_test, verbose=0)
print(f"test loss {loss:.4f}  test accuracy {acc:.3f}")
