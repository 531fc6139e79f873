import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

LINES = """what shall we do with the drunken sailor early in the morning
way hay and up she rises early in the morning
put him in the long boat till he is sober
pull out the bung and wet him all over
oh shenandoah i long to see you away you rolling river
across the wide missouri we are bound away
haul on the bowline the bowline haul
haul away joe and we will haul together
farewell and adieu to you spanish ladies
for we have received orders to sail for old england
we will rant and we will roar like true british sailors
blow the man down bullies blow the man down
give me some time to blow the man down""".splitlines()
ALPHABET = "_^" + "".join(sorted(set("".join(LINES)) | {"$"}))
CODE = {c: i for i, c in enumerate(ALPHABET)}
ACCUMULATE, ROUNDS, DECAY = 4, 150, 0.97
keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)


def micro_batch():
    size = int(rng.integers(2, 7))
    pieces = []
    for line in rng.choice(LINES, size):
        words = line.split()
        a = int(rng.integers(0, max(1, len(words) - 3)))
        pieces.append("^" + " ".join(words[a:a + int(rng.integers(3, 9))]) + "$")
    ids = np.zeros((size, 56), "int32")
    for i, p in enumerate(pieces):
        ids[i, :len(p[:56])] = [CODE[c] for c in p[:56]]
    return tf.constant(ids)


class CharNet(keras.Model):
    def __init__(self, vocab, width=64):
        super().__init__()
        self.table = layers.Embedding(vocab, width)
        self.rnn = layers.GRU(width, return_sequences=True)
        self.norm = layers.LayerNormalization()

    def call(self, ids):
        h = self.norm(self.rnn(self.table(ids)))
        return tf.matmul(h, self.table.embeddings, transpose_b=True)


model = CharNet(len(ALPHABET))
model(micro_batch())
optimizer = keras.optimizers.Adam(5e-3)
optimizer.build(model.trainable_variables)
shadow = [tf.Variable(v.value) for v in model.trainable_variables]


def token_losses(ids):
    logits = model(ids[:, :-1])
    target = ids[:, 1:]
    keep = tf.cast(target > 0, tf.float32)
    ce = tf.nn.sparse_softmax_cross_entropy_with_logits(target, logits)
    right = tf.cast(tf.argmax(logits, -1, tf.int32) == target, tf.float32)
    return tf.reduce_sum(ce * keep), tf.reduce_sum(right * keep), tf.reduce_sum(keep)


@tf.function(reduce_retracing=True)
def backward(ids):
    with tf.GradientTape() as tape:
        total, _, count = token_losses(ids)
    return tape.gradient(total, [v.value for v in model.trainable_variables]), total, count


for step in range(1, ROUNDS + 1):
    sums, loss, tokens = None, 0.0, 0.0
    for _ in range(ACCUMULATE):
        grads, total, count = backward(micro_batch())
        grads = [tf.convert_to_tensor(g) for g in grads]
        sums = grads if sums is None else [s + g for s, g in zip(sums, grads)]
        loss, tokens = loss + total, tokens + count
    mean_grads, norm = tf.clip_by_global_norm([s / tokens for s in sums], 1.0)
    optimizer.apply_gradients(zip(mean_grads, model.trainable_variables))
    for s, v in zip(shadow, model.trainable_variables):
        s.assign(DECAY * s + (1 - DECAY) * v.value)
    if step % 25 == 0:
        print(f"step {step}: {float(loss / tokens):.3f} nats per character, gradient norm {float(norm):.2f}")

for s, v in zip(shadow, model.trainable_variables):
    v.assign(s)
held = [token_losses(micro_batch()) for _ in range(30)]
right, count = sum(float(h[1]) for h in held), sum(float(h[2]) for h in held)
print(f"averaged weights: next character right {right / count:.3f}")
