import random

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(15)
rnd = random.Random(15)
AROMAS = {
    "white": "lemon pear apple honey flint grass lime peach".split(),
    "red": "plum cherry leather tobacco pepper cedar currant smoke".split(),
    "fortified": "raisin caramel walnut fig toffee prune molasses date".split(),
}
COMMON = "a nose of with hints and some long finish on the palate".split()
STYLES = list(AROMAS)


def tasting():
    k = rnd.randrange(3)
    words = [rnd.choice(COMMON) for _ in range(rnd.randint(4, 9))]
    words += [rnd.choice(AROMAS[STYLES[k]]) for _ in range(3)]
    words.append(rnd.choice(AROMAS[rnd.choice(STYLES)]))
    rnd.shuffle(words)
    return words, k


notes = [tasting() for _ in range(2400)]
vocab = {w: i + 1 for i, w in enumerate(sorted({w for n, _ in notes for w in n}))}
x = np.zeros((len(notes), 16), "int32")
for row, (words, _) in zip(x, notes):
    row[: len(words)] = [vocab[w] for w in words]
y = np.array([k for _, k in notes])

size = len(vocab) + 1
counts = np.zeros((size, size))
for row in x[:2000]:
    seen = row[row > 0]
    counts[np.ix_(seen, seen)] += 1
expected = counts.sum(0, keepdims=True) * counts.sum(1, keepdims=True) / counts.sum()
ppmi = np.log(np.maximum(counts / np.maximum(expected, 1e-9), 1))
u, s, _ = np.linalg.svd(ppmi)
vectors = u[:, :12] * np.sqrt(s[:12])

model = keras.Sequential([
    layers.Input((16,)),
    layers.Embedding(size, 12, embeddings_initializer=keras.initializers.Constant(vectors), trainable=False),
    layers.GlobalAveragePooling1D(),
    layers.BatchNormalization(momentum=0.9),
    layers.Dense(3, activation="softmax"),
])
model.compile(keras.optimizers.SGD(0.3), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.summary()
train = tf.data.Dataset.from_tensor_slices((x[:2000], y[:2000])).shuffle(2000).batch(50)
test = tf.data.Dataset.from_tensor_slices((x[2000:], y[2000:])).shuffle(400).batch(50)
model.fit(train, validation_data=test, epochs=8, verbose=2)

truth, guess = [], []
for bx, by in test:
    truth.extend(by.numpy())
    guess.extend(model.predict_on_batch(bx).argmax(1))
print("accuracy", np.mean(np.array(truth) == np.array(guess)))
