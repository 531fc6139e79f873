import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import keras

keras.utils.set_random_seed(6)
VOCAB, TAGS, LENGTH, UNKNOWN = 60, 4, 20, -1


def corpus(n, seed, annotated=0.4):
    rng = np.random.default_rng(seed)
    length = rng.integers(6, LENGTH + 1, n)
    words = np.zeros((n, LENGTH), "int32")
    tags = np.full((n, LENGTH), UNKNOWN, "int32")
    for i, m in enumerate(length):
        w = rng.integers(1, VOCAB, m)
        previous = np.r_[0, w[:-1]]
        t = (w % 4 + (previous % 3 == 0)) % TAGS
        words[i, :m] = w
        tags[i, :m] = np.where(rng.random(m) < annotated, t, UNKNOWN)
    return words, tags


class Tagger(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = keras.layers.Embedding(VOCAB, 32, mask_zero=True)
        self.rnn = keras.layers.Bidirectional(keras.layers.GRU(32, return_sequences=True))
        self.out = keras.layers.Dense(TAGS)

    def call(self, words):
        return self.out(self.rnn(self.embed(words)))


@tf.function
def train_batch(words, tags):
    known = tf.cast(tags != UNKNOWN, tf.float32)
    with tf.GradientTape() as tape:
        logits = model(words, training=True)
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.maximum(tags, 0), logits)
        loss = tf.reduce_sum(each * known) / tf.maximum(tf.reduce_sum(known), 1.0)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


words, tags = corpus(1500, 0)
test_words, test_tags = corpus(300, 1, annotated=1.0)
model = Tagger()
model(words[:1])
optimizer = keras.optimizers.Adam(5e-3)
optimizer.build(model.trainable_variables)
ds = tf.data.Dataset.from_tensor_slices((words, tags)).shuffle(1500, seed=0).batch(32)
print("share of positions with a tag", round(float((tags >= 0).mean()), 3))
for epoch in range(8):
    losses = [float(train_batch(w, t)) for w, t in ds]
    print(f"epoch {epoch} loss {np.mean(losses):.4f}")
pred = model.predict(test_words, verbose=0).argmax(-1)
known = test_tags >= 0
print(f"token accuracy {np.mean(pred[known] == test_tags[known]):.4f}  "
      f"majority {np.bincount(test_tags[known]).max() / known.sum():.4f}")
