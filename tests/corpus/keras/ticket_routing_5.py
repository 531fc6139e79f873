# Route support tickets to a team. Converted from a notebook.
import os
import random

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(5)
os.makedirs("out", exist_ok=True)

TEAMS = ["billing", "delivery", "login", "hardware", "returns"]

OPENERS = ["hello", "hi there", "good morning", "dear support", "please help", "hey"]
CLOSERS = ["thanks", "best regards", "waiting for your answer", "this is urgent", "cheers"]
WORDS = {
    "billing": ["invoice", "charged", "twice", "credit", "card", "amount", "vat", "refund", "payment"],
    "delivery": ["parcel", "courier", "late", "tracking", "address", "shipment", "arrived", "package"],
    "login": ["password", "account", "reset", "locked", "email", "code", "sign", "verify"],
    "hardware": ["screen", "battery", "broken", "noise", "charger", "cable", "device", "fan"],
    "returns": ["return", "refund", "label", "exchange", "size", "package", "send", "back"],
}
FILLER = "my the a is was it not again since yesterday still please and for with order number".split()


# %% build the corpus
def write_ticket(team, rng):
    n = rng.randint(6, 14)
    body = []
    for _ in range(n):
        u = rng.random()
        if u < 0.30:
            body.append(rng.choice(WORDS[team]))
        elif u < 0.40:
            body.append(rng.choice(WORDS[rng.choice(TEAMS)]))
        else:
            body.append(rng.choice(FILLER))
    return " ".join([rng.choice(OPENERS), *body, rng.choice(CLOSERS)])


rng = random.Random(17)
teams = [rng.choice(TEAMS) for _ in range(3000)]
texts = [write_ticket(t, rng) for t in teams]
n_train, n_val = 2200, 300

# %% lookups
vectorize = layers.TextVectorization(max_tokens=500, output_sequence_length=24)
vectorize.adapt(texts[:n_train])
team_lookup = layers.StringLookup(vocabulary=TEAMS)


def to_dataset(lo, hi, training=False):
    ds = tf.data.Dataset.from_tensor_slices((texts[lo:hi], teams[lo:hi]))
    if training:
        ds = ds.shuffle(hi - lo, seed=1)
    ds = ds.batch(64)
    ds = ds.map(lambda t, y: (vectorize(t), team_lookup(y)))
    return ds.prefetch(2)


train_ds = to_dataset(0, n_train, training=True)
val_ds = to_dataset(n_train, n_train + n_val)
test_ds = to_dataset(n_train + n_val, len(texts))

# %% model
inputs = keras.Input((24,), dtype="int64")
x = layers.Embedding(vectorize.vocabulary_size(), 32, mask_zero=True)(inputs)
x = layers.GlobalAveragePooling1D()(x)
x = layers.Dense(32, activation="relu")(x)
x = layers.Dropout(0.3)(x)
outputs = layers.Dense(len(TEAMS), activation="softmax")(x)
model = keras.Model(inputs, outputs)
model.compile(
    optimizer=keras.optimizers.Adam(5e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.summary()

# %% train
history = model.fit(train_ds, validation_data=val_ds, epochs=8, verbose=2)

# %% report
loss, acc = model.evaluate(test_ds, verbose=0)
held_out = teams[n_train + n_val:]
baseline = max(held_out.count(t) for t in TEAMS) / len(held_out)
print(f"test accuracy {acc:.3f}, always the biggest team {baseline:.3f}")

sample = tf.constant([
    "hello my card was charged twice thanks",
    "hey the courier is late and tracking is not there cheers",
])
names = team_lookup.get_vocabulary()
for text, p in zip(sample.numpy(), model.predict(vectorize(sample), verbose=0)):
    print(text.decode(), "->", names[int(np.argmax(p))], f"{p.max():.2f}")
