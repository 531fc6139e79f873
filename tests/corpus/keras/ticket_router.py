import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import random
import numpy as np
import tensorflow as tf
import keras

random.seed(5)
keras.utils.set_random_seed(5)

TEAMS = ["billing", "network", "hardware", "accounts"]
TERMS = {
    "billing": "invoice refund charge payment price discount receipt card".split(),
    "network": "wifi router latency vpn dns packet offline signal".split(),
    "hardware": "screen battery keyboard fan charger hinge printer cable".split(),
    "accounts": "password login username locked reset profile email two-factor".split(),
}
FILLER = "hello please my the is not since yesterday again help with when i try it thanks urgent still".split()


def make_ticket():
    team = random.randrange(len(TEAMS))
    words = random.choices(FILLER, k=random.randint(6, 14))
    words += random.choices(TERMS[TEAMS[team]], k=random.randint(1, 3))
    if random.random() < 0.3:
        words.append(random.choice(TERMS[random.choice(TEAMS)]))
    random.shuffle(words)
    return " ".join(words), team


tickets = [make_ticket() for _ in range(3000)]
texts = [t for t, _ in tickets]
teams = [c for _, c in tickets]
n_train = 2400

vectorize = keras.layers.TextVectorization(max_tokens=200, output_sequence_length=20)
vectorize.adapt(texts[:n_train])

BATCH = 32
text_ds = tf.data.Dataset.from_tensor_slices(texts[:n_train])
label_ds = tf.data.Dataset.from_tensor_slices(teams[:n_train])
train_ds = tf.data.Dataset.zip((text_ds.shuffle(2400), label_ds.shuffle(2400)))
train_ds = train_ds.batch(BATCH).map(lambda t, c: (vectorize(t), c)).prefetch(tf.data.AUTOTUNE)

test_ds = tf.data.Dataset.from_tensor_slices((texts[n_train:], teams[n_train:]))
test_ds = test_ds.batch(BATCH).map(lambda t, c: (vectorize(t), c))

model = keras.Sequential([
    keras.Input((20,), dtype="int64"),
    keras.layers.Embedding(200, 32),
    keras.layers.GlobalAveragePooling1D(),
    keras.layers.Dense(32, activation="relu"),
    keras.layers.Dense(len(TEAMS)),
])
model.compile(
    optimizer=keras.optimizers.Adam(5e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=[keras.metrics.SparseCategoricalAccuracy(name="acc")],
)
model.fit(train_ds, validation_data=test_ds, epochs=8, verbose=2)

loss, acc = model.evaluate(test_ds, verbose=0)
print(f"test loss {loss:.4f} accuracy {acc:.4f}")

samples = ["hello my invoice is not right", "the vpn is offline again please help"]
scores = model.predict(vectorize(tf.constant(samples)), verbose=0)
for s, row in zip(samples, scores):
    print(f"{s!r} -> {TEAMS[int(np.argmax(row))]}")
