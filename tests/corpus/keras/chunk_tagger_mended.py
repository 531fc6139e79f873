import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

TAGS = ["O", "B", "I"]
VOCAB = 120
MAX_LEN = 18


def sample_sentences(n, seed):
    """Words 20-39 open a chunk, words 40-69 prolong an open one."""
    rng = np.random.default_rng(seed)
    words = np.zeros((n, MAX_LEN), "int32")
    tags = np.zeros((n, MAX_LEN), "int32")
    lengths = rng.integers(9, MAX_LEN + 1, n)
    for s in range(n):
        inside = False
        for t in range(lengths[s]):
            w = int(rng.integers(1, VOCAB)) if rng.random() < 0.5 else int(rng.integers(20, 70))
            if 20 <= w < 40:
                tag, inside = 1, True
            elif 40 <= w < 70 and inside:
                tag = 2
            else:
                tag, inside = 0, False
            words[s, t], tags[s, t] = w, tag
    return words, tags, lengths


def stream(words, tags, lengths, size, seed):
    rng = np.random.default_rng(seed)
    while True:
        order = rng.permutation(len(words))
        for i in range(0, len(order) - size + 1, size):
            pick = order[i : i + size]
            mask = np.arange(MAX_LEN)[None] < lengths[pick][:, None]
            yield words[pick], tags[pick], mask.astype("float32")


def tagger():
    return tf.keras.Sequential(
        [
            tf.keras.layers.Embedding(VOCAB, 32),
            tf.keras.layers.Conv1D(48, 5, padding="causal", activation="relu"),
            tf.keras.layers.Conv1D(48, 5, padding="causal", activation="relu"),
            tf.keras.layers.Dense(len(TAGS)),
        ]
    )


class AccumulatingTrainer:
    def __init__(self, model, optimizer, micro_steps):
        self.model = model
        self.optimizer = optimizer
        self.micro_steps = micro_steps
        self.buffers = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]

    @tf.function
    def micro_step(self, words, tags, mask):
        with tf.GradientTape() as tape:
            logits = self.model(words, training=True)
            nll = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tags, logits=logits)
            loss = tf.reduce_sum(nll * mask) / tf.reduce_sum(mask)
        grads = tape.gradient(loss, self.model.trainable_variables)
        for buf, g in zip(self.buffers, grads):
            buf.assign_add(tf.convert_to_tensor(g) / self.micro_steps)
        return loss

    @tf.function
    def update(self):
        self.optimizer.apply_gradients(zip(self.buffers, self.model.trainable_variables))
        for buf in self.buffers:
            buf.assign(tf.zeros_like(buf))

    def run(self, feed, updates, log_every=40):
        window = []
        for step in range(1, updates + 1):
            for _ in range(self.micro_steps):
                words, tags, mask = next(feed)
                window.append(float(self.micro_step(words, tags, mask)))
            self.update()
            if step % log_every == 0:
                print(f"update {step:4d}  loss {np.mean(window):.4f}")
                window = []


def token_accuracy(model, words, tags, lengths):
    guess = model.predict(words, verbose=0).argmax(-1)
    mask = np.arange(MAX_LEN)[None] < lengths[:, None]
    return (guess == tags)[mask].mean(), (tags == 0)[mask].mean()


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(6)
    train, test = sample_sentences(3000, 0), sample_sentences(500, 1)
    net = tagger()
    net.build((None, MAX_LEN))
    trainer = AccumulatingTrainer(net, tf.keras.optimizers.SGD(0.15, momentum=0.9), micro_steps=4)
    trainer.run(stream(*train, size=16, seed=2), updates=320)
    acc, majority = token_accuracy(net, *test)
    print(f"test token accuracy {acc:.3f}  all-O baseline {majority:.3f}")
