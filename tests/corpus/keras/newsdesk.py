import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(99)
rng = np.random.default_rng(99)

topics = {
    "sport": "match goal coach team league striker season stadium referee transfer".split(),
    "money": "shares bank market profit inflation bond dividend investor loan merger".split(),
    "weather": "rain storm wind sunny forecast cloud snow degrees flood humidity".split(),
    "science": "study cell planet telescope enzyme protein laboratory fossil genome orbit".split(),
}
filler = ("the a of to in on with after before said says new old people city report week year "
          "could would will from more less than again group public official local").split()
names = list(topics)


def article(topic):
    n = rng.integers(15, 60)
    words = rng.choice(filler, n).tolist()
    for _ in range(rng.integers(2, 5)):
        words[rng.integers(n)] = str(rng.choice(topics[topic]))
    if rng.random() < 0.4:      # a stray word of another section
        words[rng.integers(n)] = str(rng.choice(topics[names[rng.integers(4)]]))
    return " ".join(words)


texts, labels = [], []
for i, t in enumerate(names):
    texts += [article(t) for _ in range(700)]
    labels += [i] * 700
texts, labels = np.array(texts), np.array(labels)

held = np.arange(len(texts)) % 7 == 0
tv = layers.TextVectorization(max_tokens=500, output_mode="tf_idf")
tv.adapt(texts[~held])
print("features per text:", tv.vocabulary_size())


def pipeline(mask, train):
    ds = tf.data.Dataset.from_tensor_slices((texts[mask], labels[mask]))
    if train:
        ds = ds.shuffle(int(mask.sum()))
    ds = ds.batch(50).map(lambda s, y: (tv(s), y))
    # unit length rows, like sklearn's TfidfVectorizer
    return ds.map(lambda x, y: (tf.math.l2_normalize(x, axis=-1), y)).cache() if not train else \
        ds.map(lambda x, y: (tf.math.l2_normalize(x, axis=-1), y))


model = keras.Sequential([
    keras.Input((tv.vocabulary_size(),)),
    layers.Dense(4, kernel_initializer="zeros"),
])
model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=8.0),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(pipeline(~held, True), validation_data=pipeline(held, False), epochs=12, verbose=2)

vocab = np.array(tv.get_vocabulary())
w = model.layers[0].get_weights()[0]
for k, name in enumerate(names):
    print(name, "<-", ", ".join(vocab[np.argsort(-w[:, k])[:6]]))
print("held-out accuracy", round(model.evaluate(pipeline(held, False), verbose=0)[1], 3))
