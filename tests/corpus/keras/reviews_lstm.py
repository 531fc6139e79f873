import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
good, bad = "great lovely fine superb charming".split(), "awful dull poor dreadful boring".split()
rest = "the film was a bit long and its plot had many scenes with music by some actor".split()


def review(positive):
    words = list(rng.choice(rest, rng.integers(5, 15)))
    for word in rng.choice(good if positive else bad, 3):
        words.insert(rng.integers(0, len(words)), word)
    return " ".join(words)


labels = rng.integers(0, 2, 1200)
texts = [review(label) for label in labels]
vectorize = layers.TextVectorization(max_tokens=200, output_sequence_length=20)
vectorize.adapt(texts)
dataset = tf.data.Dataset.from_tensor_slices((texts, labels)).shuffle(1200, seed=0).batch(32)
dataset = dataset.map(lambda text, label: (vectorize(text), label)).prefetch(2)

model = tf.keras.Sequential([
    layers.Embedding(200, 16, mask_zero=True),
    layers.LSTM(16),
    layers.Dense(1),
])
model.compile(optimizer=tf.keras.optimizers.Adam(1e-2), loss=tf.keras.losses.BinaryCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(dataset, epochs=3, verbose=2)
