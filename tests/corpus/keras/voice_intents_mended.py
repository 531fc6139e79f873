# -*- coding: utf-8 -*-
# Intent detection for a smart-home assistant (notebook exported to .py)

# %% imports
import random
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.metrics import classification_report

keras.utils.set_random_seed(3)
random.seed(3)

# %% build the corpus
ROOMS = ["kitchen", "bedroom", "hall", "bathroom", "garage", "office", "attic", "cellar"]
THINGS = ["lamp", "heater", "fan", "radio", "tv", "kettle", "blinds", "speaker"]
PEOPLE = ["mum", "dad", "anna", "tom", "lea", "max", "nora", "ben"]
POLITE = ["please", "hey", "ok", "could you", "now", "would you kindly", "i want you to", "just"]
TIMES = ["tonight", "tomorrow", "at six", "at noon", "in an hour", "later", "this evening"]


def pick(x):
    return random.choice(x)


def utterance(intent):
    room, room2 = random.sample(ROOMS, 2)
    thing, thing2 = random.sample(THINGS, 2)
    who = pick(PEOPLE)
    body = {
        "on_only": [f"turn on the {thing} but not the {thing2}",
                    f"switch the {thing} on and leave the {thing2} off"],
        "off_only": [f"turn off the {thing} but not the {thing2}",
                     f"switch the {thing} off and leave the {thing2} on"],
        "move": [f"move the music from the {room} to the {room2}",
                 f"send what plays in the {room} over to the {room2}"],
        "call": [f"call {who} and not the {room}",
                 f"get me {who} on the phone"],
        "callback": [f"tell {who} to call me",
                     f"have {who} phone me and not the {room}"],
        "remind": [f"remind me to call {who}",
                   f"do not let me forget the {thing} in the {room}"],
    }[intent]
    words = [pick(body)]
    if random.random() < 0.6:
        words.insert(0, pick(POLITE))
    if random.random() < 0.5:
        words.append(pick(TIMES))
    return " ".join(words)


INTENTS = ["on_only", "off_only", "move", "call", "callback", "remind"]
labels = np.array([i % len(INTENTS) for i in range(2400)])
texts = np.array([utterance(INTENTS[i]) for i in labels])
order = np.random.permutation(len(texts))
texts, labels = texts[order], labels[order]
print(texts[:5])

n_train, n_val = 1600, 300
train_x, train_y = texts[:n_train], labels[:n_train]
val_x, val_y = texts[n_train:n_train + n_val], labels[n_train:n_train + n_val]
test_x, test_y = texts[n_train + n_val:], labels[n_train + n_val:]

# %% vectorise
MAX_LEN = 40
vectorize = layers.TextVectorization(max_tokens=500, output_sequence_length=MAX_LEN)
vectorize.adapt(train_x)
vocab_size = vectorize.vocabulary_size()
lengths = [len(t.split()) for t in train_x]
print("vocab", vocab_size, "words per utterance: mean", np.mean(lengths), "max", max(lengths))


def dataset(x, y, shuffle=False):
    ids = vectorize(x)
    ds = tf.data.Dataset.from_tensor_slices((ids, y))
    if shuffle:
        ds = ds.shuffle(len(y))
    return ds.batch(32).prefetch(2)


train_ds = dataset(train_x, train_y, shuffle=True)
val_ds = dataset(val_x, val_y)
test_ds = dataset(test_x, test_y)

# %% model
model = keras.Sequential([
    keras.Input((MAX_LEN,), dtype="int64"),
    layers.Embedding(vocab_size, 32, mask_zero=True),
    layers.LSTM(48),
    layers.Dropout(0.2),
    layers.Dense(len(INTENTS), activation="softmax"),
])
model.summary()
model.compile(optimizer=keras.optimizers.Adam(2e-3),
              loss="sparse_categorical_crossentropy",
              metrics=["accuracy"])

# %% train
history = model.fit(train_ds, validation_data=val_ds, epochs=6, verbose=2)

# %% evaluate
pred = model.predict(test_ds, verbose=0).argmax(axis=1)
print(classification_report(test_y, pred, target_names=INTENTS, zero_division=0))
print("held-out accuracy: %.3f" % (pred == test_y).mean(), "(chance %.3f)" % (1 / len(INTENTS)))
