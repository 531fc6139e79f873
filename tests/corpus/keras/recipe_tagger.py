import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import DistilBertConfig, TFDistilBertForTokenClassification

TAGS = ["O", "B-QTY", "B-UNIT", "B-FOOD", "I-FOOD"]
UNITS = "cup spoon gram ounce pinch slice litre handful".split()
FOODS = ["flour", "butter", "brown sugar", "sea salt", "olive oil", "egg", "dried black beans",
         "orange", "orange juice", "cream", "sour cream", "lemon", "rice wine vinegar"]
VERBS = "add stir fold whisk take pour mix heat".split()
NOISE = "slowly into the bowl with a spoon until smooth then wait for one hour".split()
NUMBERS = "1 2 3 4 5 6 8 10 half one two three".split()
MAX_LEN = 24


def recipe_line(rng):
    words, tags = [rng.choice(VERBS)], [0]
    for _ in range(rng.integers(1, 3)):
        words.append(rng.choice(NUMBERS)), tags.append(1)
        if rng.random() < 0.7:
            words.append(rng.choice(UNITS)), tags.append(2)
        for k, w in enumerate(FOODS[rng.integers(len(FOODS))].split()):
            words.append(w), tags.append(3 if k == 0 else 4)
        for _ in range(rng.integers(0, 5)):
            words.append(rng.choice(NOISE)), tags.append(0)
    return words[:MAX_LEN], tags[:MAX_LEN]


def vocabulary(lines):
    words = sorted({w for line, _ in lines for w in line})
    return {w: i + 2 for i, w in enumerate(words)}


def encode(lines, vocab):
    n = len(lines)
    ids = np.zeros((n, MAX_LEN), "int32")
    mask = np.zeros((n, MAX_LEN), "int32")
    tags = np.full((n, MAX_LEN), -100, "int32")
    for i, (words, t) in enumerate(lines):
        ids[i, :len(words)] = [vocab.get(w, 1) for w in words]
        mask[i, :len(words)] = 1
        tags[i, :len(t)] = t
    return ids, mask, tags


def to_dataset(ids, mask, tags, batch, shuffle=False):
    ds = tf.data.Dataset.from_tensor_slices(
        {"input_ids": ids, "attention_mask": mask, "label": tags})
    if shuffle:
        ds = ds.shuffle(len(ids), reshuffle_each_iteration=True)
    return ds.batch(batch, drop_remainder=shuffle)


class TagAccuracy(tf_keras.callbacks.Callback):
    def __init__(self, ids, mask, tags):
        super().__init__()
        self.inputs = {"input_ids": ids, "attention_mask": mask}
        self.tags = tags

    def measure(self):
        logits = self.model.predict(self.inputs, batch_size=64, verbose=0)["logits"]
        keep = self.tags != -100
        guess = logits.argmax(-1)
        food = keep & (self.tags >= 3)
        return (guess == self.tags)[keep].mean(), (guess == self.tags)[food].mean()

    def on_epoch_end(self, epoch, logs=None):
        a, f = self.measure()
        print(f"  dev tag accuracy {a:.3f}  food tags {f:.3f}")


def main():
    tf_keras.utils.set_random_seed(6)
    rng = np.random.default_rng(6)
    lines = [recipe_line(rng) for _ in range(1100)]
    vocab = vocabulary(lines[:900])
    train, dev = encode(lines[:900], vocab), encode(lines[900:], vocab)
    config = DistilBertConfig(vocab_size=len(vocab) + 2, dim=48, n_heads=4, n_layers=2, hidden_dim=96,
                              max_position_embeddings=32, num_labels=len(TAGS))
    model = TFDistilBertForTokenClassification(config)
    steps = 4 * (900 // 32)
    schedule = tf_keras.optimizers.schedules.PolynomialDecay(2e-3, steps, end_learning_rate=1e-4)
    model.compile(optimizer=tf_keras.optimizers.Adam(schedule))
    meter = TagAccuracy(*dev)
    hist = model.fit(to_dataset(*train, 32, shuffle=True), validation_data=to_dataset(*dev, 64),
                     epochs=4, callbacks=[meter], verbose=2)
    a, f = meter.measure()
    share = (dev[2] == 0).sum() / (dev[2] != -100).sum()
    print(f"loss {hist.history['loss'][-1]:.3f}  dev tag accuracy {a:.3f}  food {f:.3f}  (share of O {share:.3f})")


if __name__ == "__main__":
    main()
