"""Dose spans in prescriptions: TFBertForTokenClassification from a small config, loss computed by the model itself."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from transformers import BertConfig, TFBertForTokenClassification

tf.keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)
PAD, CLS, SEP = 0, 1, 2
NUM, UNIT, DRUG, WORD = range(10, 30), range(30, 36), range(40, 70), range(70, 120)
MAXLEN = 40


def sentence():
    toks, tags = [CLS], [-100]
    for _ in range(rng.integers(2, 5)):
        for t in rng.choice(WORD, rng.integers(1, 4)):
            toks.append(int(t)); tags.append(-100)
        if rng.random() < 0.5:
            toks += [int(rng.choice(NUM)), int(rng.choice(UNIT))]; tags += [1, -100]
        else:
            toks += [int(rng.choice(NUM)), int(rng.choice(DRUG))]; tags += [0, -100]
    toks.append(SEP); tags.append(-100)
    n = len(toks)
    return toks + [PAD] * (MAXLEN - n), [1] * n + [0] * (MAXLEN - n), tags + [-100] * (MAXLEN - n)


ids, mask, tags = (np.array(a, dtype="int32") for a in zip(*[sentence() for _ in range(900)]))
print("share of labelled positions", round(float((tags != -100).mean()), 3))


def dataset(lo, hi, shuffle):
    ds = tf.data.Dataset.from_tensor_slices({"input_ids": ids[lo:hi], "attention_mask": mask[lo:hi], "labels": tags[lo:hi]})
    return (ds.shuffle(hi - lo) if shuffle else ds).batch(32)


config = BertConfig(vocab_size=128, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
                    max_position_embeddings=MAXLEN, num_labels=2, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
model = TFBertForTokenClassification(config)
model.compile(optimizer=tf.keras.optimizers.Adam(2e-3))
model.fit(dataset(0, 750, True), validation_data=dataset(750, 900, False), epochs=7, verbose=2)

logits = model.predict(dataset(750, 900, False), verbose=0).logits
keep = tags[750:] != -100
print("accuracy at labelled positions", round(float((logits.argmax(-1)[keep] == tags[750:][keep]).mean()), 3))
