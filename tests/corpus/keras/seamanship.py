"""Tag each word of a ship's log: place, wind, vessel or other."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import random
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

random.seed(23)
keras.utils.set_random_seed(23)
TAGS = ["O", "PLACE", "WIND", "VESSEL"]
WORDS = {
    "PLACE": "cadiz bergen malta lisbon tunis".split(),
    "WIND": "northerly gale breeze calm squall".split(),
    "VESSEL": "brig sloop cutter schooner frigate".split(),
}
OTHER = "at dawn we saw the a under off with light and fresh made sail crew all day in sight of".split()
# "victory" is a place after "near", a vessel anywhere else
VOCAB = {w: i + 1 for i, w in enumerate(sum(WORDS.values(), []) + OTHER + ["near", "victory"])}


def entry():
    words, tags = [], []
    while len(words) < random.randint(3, 25):
        r = random.random()
        if r < 0.55:
            words.append(random.choice(OTHER)), tags.append(0)
        elif r < 0.75:
            near = random.random() < 0.5
            words += ["near", "victory"] if near else [random.choice(OTHER), "victory"]
            tags += [0, 1 if near else 3]
        else:
            k = random.randint(1, 3)
            words.append(random.choice(WORDS[TAGS[k]])), tags.append(k)
    return [VOCAB[w] for w in words], tags


def stream(entries):
    def gen():
        for ids, tags in entries:
            yield ids, tags
    spec = tf.TensorSpec((None,), tf.int32)
    ds = tf.data.Dataset.from_generator(gen, output_signature=(spec, spec)).cache()
    return ds


def bucketed(ds):
    return ds.bucket_by_sequence_length(lambda ids, tags: tf.shape(ids)[0], bucket_boundaries=[8, 16],
                                        bucket_batch_sizes=[64, 32, 16], padding_values=(0, -1))


train = bucketed(stream([entry() for _ in range(1500)]).shuffle(1500))
test = bucketed(stream([entry() for _ in range(300)]))

ids = keras.Input((None,), dtype="int32")
h = layers.Embedding(len(VOCAB) + 1, 24, mask_zero=True)(ids)
h = layers.Bidirectional(layers.LSTM(24, return_sequences=True))(h)
model = keras.Model(ids, layers.Dense(len(TAGS))(h))
optimizer = keras.optimizers.AdamW(5e-3, weight_decay=1e-3, global_clipnorm=1.0)


@tf.function(reduce_retracing=True)
def step(x, y):
    mask = tf.cast(y >= 0, tf.float32)
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.maximum(y, 0), logits=logits)
        loss = tf.reduce_sum(ce * mask) / tf.reduce_sum(mask)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


@tf.function(reduce_retracing=True)
def predict(x):
    return tf.argmax(model(x, training=False), -1, output_type=tf.int32)


for epoch in range(5):
    losses = [float(step(x, y)) for x, y in train]
    hit = total = hit_tag = total_tag = 0
    for x, y in test:
        ok, keep = (predict(x) == y).numpy(), (y >= 0).numpy()
        tagged = (y > 0).numpy()
        hit, total = hit + (ok & keep).sum(), total + keep.sum()
        hit_tag, total_tag = hit_tag + (ok & tagged).sum(), total_tag + tagged.sum()
    print(f"epoch {epoch + 1} loss {np.mean(losses):.4f} token acc {hit / total:.4f} tagged {hit_tag / total_tag:.4f}")
