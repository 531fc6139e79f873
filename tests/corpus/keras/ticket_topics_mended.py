"""Help-desk tickets by topic: frozen word vectors, few labelled tickets."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)
TOPICS = ["billing", "network", "login", "hardware", "shipping"]
SYLLABLES = ["ka", "lo", "mi", "ter", "ban", "sol", "ri", "ven", "du", "pex", "or", "tal", "gim", "nu", "shi", "wor"]

# ---- lexicon with vectors "from elsewhere"
lexicon, vectors = {}, {}
centres = rng.normal(size=(len(TOPICS), 24))
while len(lexicon) < 1000:
    w = "".join(rng.choice(SYLLABLES, rng.integers(2, 5)))
    if w in lexicon:
        continue
    lexicon[w] = int(rng.integers(0, len(TOPICS) + 1))
    mean = centres[lexicon[w]] if lexicon[w] < len(TOPICS) else np.zeros(24)
    vectors[w] = (mean + rng.normal(0, 0.9, 24)).astype("float32")
groups = [[w for w, g in lexicon.items() if g == k] for k in range(len(TOPICS) + 1)]


def tickets(n):
    y = rng.integers(0, len(TOPICS), n)
    texts = []
    for k in y:
        own = list(rng.choice(groups[k], 5))
        other = list(rng.choice(groups[rng.integers(len(TOPICS))], 2))
        plain = list(rng.choice(groups[-1], 5))
        texts.append(" ".join(rng.permutation(own + other + plain)))
    return np.array(texts), y


x_train, y_train = tickets(150)
x_test, y_test = tickets(1000)
unlabelled, _ = tickets(3000)

# ---- tokens
vectorize = layers.TextVectorization(max_tokens=1200, output_sequence_length=12)
vectorize.adapt(np.concatenate([unlabelled, x_train]))
vocab = vectorize.get_vocabulary(include_special_tokens=False)

# ---- embedding table
table = np.zeros((len(vocab) + 2, 24), dtype="float32")
for row, word in enumerate(vocab):
    if word in vectors:
        table[row + 2] = vectors[word]
print(f"{len(vocab)} words, {(np.abs(table).sum(1) > 0).sum()} with a vector")

embed = layers.Embedding(len(table), 24, embeddings_initializer=keras.initializers.Constant(table), trainable=False)
model = keras.Sequential([
    keras.Input((12,), dtype="int64"),
    embed,
    layers.GlobalAveragePooling1D(),
    layers.Dense(32, activation="relu"),
    layers.Dropout(0.2),
    layers.Dense(len(TOPICS), activation="softmax"),
])
model.compile(keras.optimizers.Adam(5e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])

train_ids, test_ids = vectorize(tf.constant(x_train)), vectorize(tf.constant(x_test))
model.fit(train_ids, y_train, validation_data=(test_ids, y_test), epochs=60, batch_size=16, verbose=0,
          callbacks=[keras.callbacks.LambdaCallback(on_epoch_end=lambda e, logs: e % 10 == 9 and print(
              f"epoch {e + 1:2d}  acc {logs['accuracy']:.3f}  val acc {logs['val_accuracy']:.3f}"))])
print("test accuracy", round(model.evaluate(test_ids, y_test, verbose=0)[1], 3))
