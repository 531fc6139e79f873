import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, models

tf.keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)

levels = {
    1: ["awful", "refund", "disgusting", "never", "horrible"],
    2: ["poor", "disappointing", "cold", "late", "noisy"],
    3: ["okay", "average", "acceptable", "plain", "fair"],
    4: ["good", "friendly", "tasty", "nice", "quick"],
    5: ["superb", "perfect", "wonderful", "best", "amazing"],
}
filler = "we went there on a friday the soup and waiter were place table menu".split()


def review(stars):
    words = list(rng.choice(filler, 10)) + list(rng.choice(levels[stars], 3))
    near = min(5, max(1, stars + rng.choice([-1, 1])))
    words += list(rng.choice(levels[near], 1))
    rng.shuffle(words)
    return " ".join(words)


stars = rng.integers(1, 6, 3000)
texts = np.array([review(s) for s in stars])

vectorize = layers.TextVectorization(max_tokens=200, output_sequence_length=16)
vectorize.adapt(texts)
tokens = vectorize(tf.constant(texts)).numpy()

labels = stars.astype("int32")
n_classes = len(np.unique(stars))
split = 2400
x_train, x_test = tokens[:split], tokens[split:]
y_train, y_test = labels[:split], labels[split:]

model = models.Sequential([
    layers.Input((16,), dtype="int32"),
    layers.Embedding(vectorize.vocabulary_size(), 16),
    layers.GlobalAveragePooling1D(),
    layers.Dense(32, activation="relu"),
    layers.Dense(n_classes, activation="softmax"),
])
model.compile(optimizer=tf.keras.optimizers.Adam(5e-3),
              loss="sparse_categorical_crossentropy",
              metrics=["accuracy"])
hist = model.fit(x_train, y_train, epochs=10, batch_size=32,
                 validation_split=0.1, verbose=2)

print("train loss by epoch:", np.round(hist.history["loss"], 3))
print("test accuracy:", model.evaluate(x_test, y_test, verbose=0)[1])
