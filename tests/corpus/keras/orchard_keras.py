import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import random

import keras
import numpy as np
import tensorflow as tf
from keras import layers

random.seed(9)
keras.utils.set_random_seed(9)

TOPICS = {
    "sport": ["match", "goal", "coach", "league", "team"],
    "money": ["bank", "stock", "loan", "budget", "tax"],
    "health": ["doctor", "virus", "diet", "clinic", "sleep"],
    "travel": ["flight", "hotel", "beach", "visa", "train"],
    "tech": ["phone", "chip", "robot", "app", "server"],
}
filler = "the a of new today report says people many first after with about more time".split()
names = list(TOPICS)


def article():
    y = np.zeros(len(names), "float32")
    words = random.choices(filler, k=random.randint(6, 25))
    for k in random.sample(range(len(names)), random.choice([0, 1, 1, 2, 2, 3])):
        y[k] = 1
        words += random.choices(TOPICS[names[k]], k=random.randint(1, 3))
    random.shuffle(words)
    return " ".join(words), y


rows = [article() for _ in range(3000)]
texts = [r[0] for r in rows]
labels = np.stack([r[1] for r in rows])

vectorize = layers.TextVectorization(max_tokens=500, output_sequence_length=40)
vectorize.adapt(texts[:2400])
prepare = lambda x, y: (vectorize(x), y)
train = tf.data.Dataset.from_tensor_slices((texts[:2400], labels[:2400])).shuffle(2400, seed=1)
train = train.batch(64).map(prepare).prefetch(2)
test = tf.data.Dataset.from_tensor_slices((texts[2400:], labels[2400:])).batch(64).map(prepare)


class Tagger(keras.Model):
    def __init__(self, vocab, n_labels):
        super().__init__()
        self.embed = layers.Embedding(vocab, 32, mask_zero=True)
        self.encode = layers.Bidirectional(layers.GRU(24))
        self.drop = layers.Dropout(0.2)
        self.out = layers.Dense(n_labels)

    def call(self, ids, training=False):
        return self.out(self.drop(self.encode(self.embed(ids)), training=training))


model = Tagger(vectorize.vocabulary_size(), len(names))
model.compile(
    optimizer=keras.optimizers.Adam(3e-3),
    loss=keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[keras.metrics.BinaryAccuracy(threshold=0.0), keras.metrics.AUC(multi_label=True, from_logits=True)],
)
model.fit(train, validation_data=test, epochs=5, verbose=2)

pred = model.predict(test, verbose=0) > 0
for k, name in enumerate(names):
    tp = (pred[:, k] & (labels[2400:, k] == 1)).sum()
    print(f"{name:7s} precision {tp / max(pred[:, k].sum(), 1):.3f}  recall {tp / labels[2400:, k].sum():.3f}")
