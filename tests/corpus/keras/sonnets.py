import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import random
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

random.seed(3)
tf.random.set_seed(3)

THEMES = {
    "love": "heart kiss rose darling lips tender bride embrace".split(),
    "sea": "wave salt gull mast tide harbour foam anchor".split(),
    "winter": "frost snow hearth icicle bare raven frozen dusk".split(),
    "war": "sword banner drum shield march blood trumpet siege".split(),
}
FILLER = "the a and of my thy upon when all with yet so in to for that o still once where".split()


def verse(theme):
    n = random.randint(6, 18)
    words = [random.choice(THEMES[theme]) if random.random() < 0.2 else random.choice(FILLER) for _ in range(n)]
    words[random.randrange(n)] = random.choice(THEMES[theme])
    return words


class Corpus:
    def __init__(self, size):
        self.names = sorted(THEMES)
        vocab = sorted(set(FILLER) | {w for ws in THEMES.values() for w in ws})
        self.index = {w: i + 1 for i, w in enumerate(vocab)}
        self.rows = []
        for _ in range(size):
            k = random.randrange(len(self.names))
            self.rows.append(([self.index[w] for w in verse(self.names[k])], k))

    def stream(self, part):
        def gen():
            for ids, label in part:
                yield np.array(ids, dtype="int32"), label
        signature = (tf.TensorSpec((None,), tf.int32), tf.TensorSpec((), tf.int32))
        return tf.data.Dataset.from_generator(gen, output_signature=signature)

    def loaders(self, batch_size=32):
        cut = int(0.8 * len(self.rows))
        train = self.stream(self.rows[:cut]).shuffle(1000, seed=3).batch(batch_size).prefetch(2)
        test = self.stream(self.rows[cut:]).padded_batch(batch_size)
        return train, test


corpus = Corpus(1200)
train_ds, test_ds = corpus.loaders()

model = tf.keras.Sequential([
    layers.Embedding(len(corpus.index) + 1, 24, mask_zero=True),
    layers.Bidirectional(layers.GRU(24)),
    layers.Dense(len(corpus.names)),
])
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam(3e-3)
train_loss = tf.keras.metrics.Mean()
test_acc = tf.keras.metrics.SparseCategoricalAccuracy()


@tf.function(reduce_retracing=True)
def train_step(ids, labels):
    with tf.GradientTape() as tape:
        logits = model(ids, training=True)
        loss = loss_fn(labels, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 1.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    train_loss.update_state(loss)


for epoch in range(5):
    train_loss.reset_state()
    test_acc.reset_state()
    for ids, labels in train_ds:
        train_step(ids, labels)
    for ids, labels in test_ds:
        test_acc.update_state(labels, model(ids, training=False))
    print(f"epoch {epoch + 1}: loss {train_loss.result():.4f}  test accuracy {test_acc.result():.3f}")
