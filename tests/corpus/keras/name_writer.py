"""Character model that learns to continue invented place names."""
import random

import numpy as np
import tensorflow as tf

random.seed(4)
np.random.seed(4)
tf.random.set_seed(4)

HEADS = ["nor", "sud", "west", "ost", "gram", "hol", "brad", "kel", "lan", "mar", "stav", "win", "thor", "ald", "fen"]
MIDS = ["", "er", "en", "ing", "is", "a"]
TAILS = ["ton", "ham", "by", "wick", "ford", "stead", "mouth", "ley", "burg", "gate"]


def place():
    return random.choice(HEADS) + random.choice(MIDS) + random.choice(TAILS)


corpus = "\n".join(place() for _ in range(4000)) + "\n"
chars = sorted(set(corpus))
stoi = {c: i for i, c in enumerate(chars)}
itos = np.array(chars)
encoded = np.array([stoi[c] for c in corpus], dtype=np.int32)

SEQ, BATCH = 40, 32
n_seq = (len(encoded) - 1) // SEQ
inputs = encoded[: n_seq * SEQ].reshape(n_seq, SEQ)
nexts = encoded[1 : n_seq * SEQ + 1].reshape(n_seq, SEQ)
cut = int(0.9 * n_seq)
train = tf.data.Dataset.from_tensor_slices((inputs[:cut], nexts[:cut])).shuffle(cut).batch(BATCH, drop_remainder=True)


class CharModel(tf.keras.Model):
    def __init__(self, vocab, dim=32, units=64):
        super().__init__()
        self.embed = tf.keras.layers.Embedding(vocab, dim)
        self.rnn = tf.keras.layers.GRU(units, return_sequences=True)
        self.head = tf.keras.layers.Dense(vocab, activation="softmax")

    def call(self, ids, training=False):
        return self.head(self.rnn(self.embed(ids), training=training))


net = CharModel(len(chars))
opt = tf.keras.optimizers.Adam(3e-3)


@tf.function
def step(a, b):
    with tf.GradientTape() as tape:
        scores = net(a, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=b, logits=scores))
    variables = net.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


for epoch in range(5):
    total = tf.keras.metrics.Mean()
    for a, b in train:
        total.update_state(step(a, b))
    guess = tf.argmax(net(inputs[cut:]), axis=-1).numpy()
    print(f"epoch {epoch}: loss {total.result().numpy():.3f}  next-char accuracy {(guess == nexts[cut:]).mean():.3f}")

text = "\n"
for _ in range(120):
    window = np.array([[stoi[c] for c in text[-SEQ:]]])
    text += itos[int(tf.argmax(net(window)[0, -1]))]
print(text)
