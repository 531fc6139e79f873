"""Tiny GPT-2 trained from scratch on generated kitchen instructions (TF / Hugging Face)."""
import os

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import GPT2Config, TFGPT2LMHeadModel

SEQ_LEN = 32
EPOCHS = 6

LIQUIDS = ["water", "milk", "cream", "stock", "wine"]
SOLIDS = ["flour", "sugar", "rice", "butter", "onion", "garlic", "carrot", "lentils"]
TOOLS = {"bowl": "whisk", "pan": "spatula", "pot": "ladle", "oven": "tray"}
HEAT = {"pan": "fry", "pot": "simmer", "oven": "bake"}
TIMES = {"fry": ["five", "ten"], "simmer": ["twenty", "thirty"], "bake": ["forty", "sixty"]}


def recipe(rng):
    pick = lambda seq: seq[rng.integers(len(seq))]
    a, b, liq = pick(SOLIDS), pick(SOLIDS), pick(LIQUIDS)
    place = pick(list(HEAT))
    verb = HEAT[place]
    words = ["take", a, "and", b, "."]
    if rng.random() < 0.6:
        words += ["mix", a, "with", liq, "in", "the", "bowl", "using", "the", "whisk", "."]
    else:
        words += ["chop", "the", b, "."]
    words += ["put", "the", a, "in", "the", place, "using", "the", TOOLS[place], "."]
    words += [verb, "the", a, "for", pick(TIMES[verb]), "minutes", "."]
    if rng.random() < 0.4:
        words += ["serve", "with", b, "and", liq, "."]
    return words + ["<end>"]


def corpus(n, seed):
    rng = np.random.default_rng(seed)
    return [w for _ in range(n) for w in recipe(rng)]


def chunks(words, vocab):
    ids = np.array([vocab[w] for w in words], dtype="int32")
    n = len(ids) // SEQ_LEN
    return ids[: n * SEQ_LEN].reshape(n, SEQ_LEN)


def to_dataset(blocks, batch, shuffle):
    features = {"input_ids": blocks, "labels": blocks}
    ds = tf.data.Dataset.from_tensor_slices(features)
    if shuffle:
        ds = ds.shuffle(len(blocks), seed=0)
    return ds.batch(batch, drop_remainder=shuffle)


def next_word_scores(model, blocks, batch=64):
    """Perplexity and accuracy of the next word, from the raw logits."""
    nll, hits, count = 0.0, 0, 0
    for k in range(0, len(blocks), batch):
        ids = tf.constant(blocks[k:k + batch])
        logits = model(input_ids=ids, training=False).logits[:, :-1]
        gold = ids[:, 1:]
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=gold, logits=logits)
        nll += float(tf.reduce_sum(ce))
        hits += int(tf.reduce_sum(tf.cast(tf.argmax(logits, -1, output_type=tf.int32) == gold, tf.int32)))
        count += int(tf.size(gold))
    return np.exp(nll / count), hits / count


def main():
    tf_keras.utils.set_random_seed(6)
    train_words, test_words = corpus(1500, 1), corpus(200, 2)
    vocab = {w: k for k, w in enumerate(sorted(set(train_words)))}
    train, test = chunks(train_words, vocab), chunks(test_words, vocab)
    print(f"{len(vocab)} words, {len(train)} training blocks, {len(test)} held-out blocks")

    config = GPT2Config(vocab_size=len(vocab), n_positions=SEQ_LEN, n_embd=48, n_layer=2, n_head=4,
                        resid_pdrop=0.05, embd_pdrop=0.05, attn_pdrop=0.05,
                        bos_token_id=vocab["<end>"], eos_token_id=vocab["<end>"], use_cache=False)
    model = TFGPT2LMHeadModel(config)
    model.compile(optimizer=tf_keras.optimizers.Adam(3e-3, clipnorm=1.0))
    model.fit(to_dataset(train, 32, True), validation_data=to_dataset(test, 64, False),
              epochs=EPOCHS, verbose=2)

    counts = np.bincount(train.ravel(), minlength=len(vocab)) + 1
    p = counts / counts.sum()
    unigram = np.exp(-np.log(p[test[:, 1:]]).mean())
    ppl, acc = next_word_scores(model, test)
    print(f"held-out next word: perplexity {ppl:.2f} (unigram {unigram:.2f}), accuracy {acc:.3f}")

    names = {k: w for w, k in vocab.items()}
    ids = [vocab["<end>"], vocab["take"]]
    for _ in range(14):
        logits = model(input_ids=tf.constant([ids]), training=False).logits[0, -1]
        ids.append(int(tf.argmax(logits)))
    print("sample:", " ".join(names[k] for k in ids[1:]))


if __name__ == "__main__":
    main()
