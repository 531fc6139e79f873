import argparse
import random

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

TEMPLATES = {
    "billing": ["why is my bill {n} higher", "i was charged twice for {s}", "refund the {s} fee please", "my invoice shows {n} extra"],
    "outage": ["my {s} is down since {n}", "no signal on {s} today", "{s} drops every {n} minutes", "{s} stopped working"],
    "cancel": ["i want to end my {s}", "close the {s} contract", "stop my {s} from month {n}", "please terminate {s}"],
    "upgrade": ["can i get faster {s}", "move me to plan {n}", "add {s} to my plan", "what does the bigger {s} cost"],
    "address": ["i am moving to street {n}", "change my {s} address", "new house number {n} for {s}", "send {s} to my new home"],
}
SERVICES = ["internet", "mobile", "landline", "tv", "roaming", "fibre"]


def calls(n, rng):
    names = list(TEMPLATES)
    texts, labels = [], []
    for _ in range(n):
        k = rng.randrange(len(names))
        text = rng.choice(TEMPLATES[names[k]]).format(n=rng.randint(1, 30), s=rng.choice(SERVICES))
        pre = rng.choice(["hello", "hi there", "good morning", "listen", ""])
        texts.append((pre + " " + text).strip())
        labels.append(k)
    return np.array(texts), np.array(labels)


def build(vectorize, lr):
    model = keras.Sequential([
        layers.Input((), dtype="string"),
        vectorize,
        layers.Embedding(200, 32, mask_zero=True),
        layers.Bidirectional(layers.GRU(24)),
        layers.Dropout(0.2),
        layers.Dense(len(TEMPLATES), activation="softmax"),
    ])
    model.compile(keras.optimizers.Adam(lr), "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--seed", type=int, default=4)
    a = p.parse_args()

    keras.utils.set_random_seed(a.seed)
    texts, labels = calls(1200, random.Random(a.seed))
    train = tf.data.Dataset.from_tensor_slices((texts[:1000], labels[:1000])).shuffle(1000, seed=a.seed).batch(a.batch)
    test = tf.data.Dataset.from_tensor_slices((texts[1000:], labels[1000:])).batch(a.batch)
    vectorize = layers.TextVectorization(max_tokens=200, output_sequence_length=12)
    vectorize.adapt(texts[:1000])

    lr = keras.optimizers.schedules.ExponentialDecay(a.lr, decay_steps=2, decay_rate=0.8)
    model = build(vectorize, lr)
    model.fit(train, validation_data=test, epochs=a.epochs, verbose=2)


if __name__ == "__main__":
    main()
