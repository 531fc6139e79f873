import os
import string

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SEED = 7
MAXLEN = 24
VOCAB = 400
EPOCHS = 6

keras.utils.set_random_seed(SEED)
os.makedirs("out", exist_ok=True)

GOOD = "great lovely superb tasty fresh friendly quick cosy generous perfect".split()
FAIR = "okay decent average plain standard usual simple fine acceptable modest".split()
BAD = "cold rude stale slow dirty bland noisy overpriced greasy awful".split()
FILL = ("the a we i food waiter table soup pasta place again lunch dinner was were and with for our at "
        "visit street menu wine bread desk music evening friends order bill").split()


def write_reviews(n, rng):
    """Reviews of a restaurant with the stars (1 to 5) their writers gave."""
    texts, stars = [], []
    for _ in range(n):
        s = int(rng.integers(1, 6))
        p = {1: (0.02, 0.1, 0.88), 2: (0.1, 0.35, 0.55), 3: (0.22, 0.56, 0.22), 4: (0.55, 0.35, 0.1), 5: (0.88, 0.1, 0.02)}[s]
        words = []
        for _ in range(int(rng.integers(12, 24))):
            if rng.random() < 0.5:
                bag = (GOOD, FAIR, BAD)[rng.choice(3, p=p)]
                words.append(str(rng.choice(bag)))
            else:
                words.append(str(rng.choice(FILL)))
        text = " ".join(words).capitalize() + str(rng.choice(list(".!?")))
        texts.append(text)
        stars.append(s)
    return np.array(texts), np.array(stars, dtype="int64")


def clean(text):
    text = tf.strings.lower(text)
    return tf.strings.regex_replace(text, "[%s]" % string.punctuation.replace("]", r"\]"), "")


rng = np.random.default_rng(SEED)
texts, stars = write_reviews(3000, rng)
n_train, n_val = 2200, 300

vectorize = layers.TextVectorization(max_tokens=VOCAB, output_sequence_length=MAXLEN, standardize=clean)
vectorize.adapt(texts[:n_train])


def to_ds(lo, hi, training=False):
    ds = tf.data.Dataset.from_tensor_slices((texts[lo:hi], stars[lo:hi] - 1))
    if training:
        ds = ds.shuffle(hi - lo, seed=SEED)
    return ds.batch(64).map(lambda t, y: (vectorize(t), y)).prefetch(2)


train_ds = to_ds(0, n_train, training=True)
val_ds = to_ds(n_train, n_train + n_val)
test_ds = to_ds(n_train + n_val, len(texts))


def build(n_classes):
    tokens = keras.Input((MAXLEN,), dtype="int64")
    x = layers.Embedding(VOCAB, 32)(tokens)
    x = layers.Conv1D(48, 3, padding="same", activation="relu")(x)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dropout(0.2)(x)
    x = layers.Dense(32, activation="relu")(x)
    return keras.Model(tokens, layers.Dense(n_classes, activation="softmax")(x), name="stars")


model = build(len(np.unique(stars)))
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(
    train_ds,
    validation_data=val_ds,
    epochs=EPOCHS,
    verbose=2,
    callbacks=[keras.callbacks.CSVLogger("out/stars.csv")],
)

loss, acc = model.evaluate(test_ds, verbose=0)
share = np.bincount(stars[n_train + n_val:]).max() / (len(stars) - n_train - n_val)
print(f"test loss {loss:.3f} accuracy {acc:.3f} (commonest star {share:.3f})")
