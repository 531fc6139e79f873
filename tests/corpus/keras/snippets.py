import random

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(3)

subjects = ["the room", "our waiter", "this phone", "the battery", "the ending", "my order", "the staff", "the plot"]
good = ["lovely", "superb", "friendly", "quick", "charming", "solid", "brilliant", "tasty"]
bad = ["dreadful", "rude", "slow", "broken", "bland", "dirty", "boring", "useless"]
glue = ["was", "seemed", "felt", "turned out"]
extra = ["to be honest", "in my view", "once again", "for the price", "all in all", "at least for us"]


def review():
    label = random.randint(0, 1)
    parts = []
    for _ in range(random.randint(1, 3)):
        word = random.choice(good if label else bad)
        parts.append(f"{random.choice(subjects)} {random.choice(glue)} {word}")
        if random.random() < 0.5:
            parts.append(random.choice(extra))
    return " ".join(parts), label


texts, labels = zip(*(review() for _ in range(3000)))
texts = np.array(texts, dtype=object)
labels = np.array(labels, dtype="int32")

vectorize = layers.TextVectorization(max_tokens=500, output_sequence_length=150)
vectorize.adapt(texts[:2400])


def dataset(lo, hi, train=False):
    ds = tf.data.Dataset.from_tensor_slices((list(texts[lo:hi]), labels[lo:hi]))
    if train:
        ds = ds.shuffle(hi - lo, seed=3)
    return ds.batch(32).map(lambda t, y: (vectorize(t), y)).prefetch(2)


train_ds = dataset(0, 2400, train=True)
val_ds = dataset(2400, 3000)

model = keras.Sequential([
    layers.Embedding(500, 32),
    layers.LSTM(32),
    layers.Dense(16, activation="relu"),
    layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(train_ds, validation_data=val_ds, epochs=4, verbose=2)

for t in ["the staff was friendly", "my order turned out bland at least for us"]:
    p = model.predict(vectorize(tf.constant([t])), verbose=0)[0, 0]
    print(f"{p:.2f}  {t}")
