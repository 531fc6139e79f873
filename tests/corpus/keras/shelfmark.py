"""Find the catalogue record that a reader means: two towers, in-batch negatives."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import argparse
import logging

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

log = logging.getLogger("shelfmark")

THEMES = ["sea", "war", "garden", "city", "winter", "music", "family", "railway", "desert", "harvest",
          "island", "forest", "court", "circus", "market", "school"]
FORMS = ["novel", "poems", "letters", "diary", "atlas", "plays", "essays", "songs"]
PLACES = ["lisbon", "oslo", "cairo", "lima", "kyoto", "dublin", "riga", "quebec", "tunis", "delhi"]
ASK = {
    "sea": "ocean", "war": "battle", "garden": "flowers", "city": "town", "winter": "snow", "music": "melody",
    "family": "parents", "railway": "trains", "desert": "sand", "harvest": "reaping", "island": "isle",
    "forest": "woods", "court": "judges", "circus": "clowns", "market": "stalls", "school": "pupils",
    "novel": "story", "poems": "verse", "letters": "correspondence", "diary": "journal", "atlas": "maps",
    "plays": "drama", "essays": "reflections", "songs": "ballads",
}
CHATTER = "i am looking for something about a do you have any old with pictures by please from".split()


def make_catalogue(n, rng):
    seen = set()
    while len(seen) < n:
        seen.add((rng.choice(THEMES), rng.choice(FORMS), rng.choice(PLACES)))
    return sorted(seen)


def record_text(item, rng):
    theme, form, place = item
    return f"{form} of the {theme} printed in {place} {rng.integers(1780, 1960)}"


def query_text(item, rng):
    theme, form, place = item
    words = [ASK[theme] if rng.random() < 0.8 else theme, ASK[form] if rng.random() < 0.8 else form, place]
    words += list(rng.choice(CHATTER, rng.integers(2, 7)))
    return " ".join(rng.permutation(words))


class Tower(keras.Model):
    def __init__(self, vocab_size, dim=64, **kwargs):
        super().__init__(**kwargs)
        self.embed = layers.Embedding(vocab_size, dim, mask_zero=True)
        self.pool = layers.GlobalAveragePooling1D()
        self.hidden = layers.Dense(2 * dim, activation="relu")
        self.out = layers.Dense(dim)

    def call(self, tokens):
        x = self.embed(tokens)
        x = self.pool(x, mask=ops.not_equal(tokens, 0))
        x = self.out(self.hidden(x))
        return x / (ops.norm(x, axis=-1, keepdims=True) + 1e-6)


class Retriever(keras.Model):
    def __init__(self, vocab_size, **kwargs):
        super().__init__(**kwargs)
        self.query_tower = Tower(vocab_size, name="query")
        self.record_tower = Tower(vocab_size, name="record")
        self.log_scale = self.add_weight(shape=(), initializer=keras.initializers.Constant(2.5), name="log_scale")
        self.hit = keras.metrics.Mean(name="in_batch_hit")

    def call(self, pair):
        q = self.query_tower(pair["query"])
        r = self.record_tower(pair["record"])
        return ops.exp(self.log_scale) * ops.matmul(q, ops.transpose(r))

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        target = ops.arange(ops.shape(y_pred)[0])
        there = ops.sparse_categorical_crossentropy(target, y_pred, from_logits=True)
        back = ops.sparse_categorical_crossentropy(target, ops.transpose(y_pred), from_logits=True)
        self.hit.update_state(ops.equal(ops.argmax(y_pred, axis=-1), ops.cast(target, "int64")))
        return ops.mean(there + back) / 2


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--records", type=int, default=400)
    p.add_argument("--pairs", type=int, default=5000)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--seed", type=int, default=19)
    args = p.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)

    catalogue = make_catalogue(args.records, rng)
    wanted = rng.integers(0, len(catalogue), args.pairs)
    queries = [query_text(catalogue[i], rng) for i in wanted]
    records = [record_text(catalogue[i], rng) for i in wanted]

    vectorize = layers.TextVectorization(output_sequence_length=12)
    vectorize.adapt(queries + records)
    pairs = {"query": vectorize(queries).numpy(), "record": vectorize(records).numpy()}
    ds = tf.data.Dataset.from_tensor_slices((pairs, np.zeros(args.pairs, "int32")))
    ds = ds.shuffle(args.pairs, seed=args.seed).batch(args.batch_size, drop_remainder=True).prefetch(1)

    model = Retriever(vectorize.vocabulary_size())
    model.compile(optimizer=keras.optimizers.Adam(args.lr))
    model.fit(ds, epochs=args.epochs, verbose=2)

    shelf = model.record_tower.predict(vectorize([record_text(c, rng) for c in catalogue]), verbose=0)
    asked = rng.integers(0, len(catalogue), 500)
    asks = model.query_tower.predict(vectorize([query_text(catalogue[i], rng) for i in asked]), verbose=0)
    ranks = np.argsort(-asks @ shelf.T, axis=1)
    for k in (1, 5, 20):
        log.info("recall@%-2d %.3f", k, np.mean([i in row[:k] for i, row in zip(asked, ranks)]))
    log.info("scale %.2f", float(ops.exp(model.log_scale)))


if __name__ == "__main__":
    main()
