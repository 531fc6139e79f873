import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from transformers import ElectraConfig, TFElectraForTokenClassification

tf.keras.utils.set_random_seed(31)
rng = np.random.default_rng(31)

SHIPS = "aurora meridian tempest halcyon valiant corsair juno perseus".split()
PORTS = "hull leith cadiz genoa bergen antwerp rostock piraeus".split()
CARGO = "timber grain coal wool salt tin hides wine".split()
TALK = "arrived from bound for with a load of departed at dawn anchored off pilot aboard under tow".split()
LABELS = ["O", "SHIP", "PORT", "CARGO"]
words = SHIPS + PORTS + CARGO + TALK
ids_of = {w: i + 2 for i, w in enumerate(words)}
tag_of = {w: 1 for w in SHIPS} | {w: 2 for w in PORTS} | {w: 3 for w in CARGO}

MAXLEN = 24


def entry():
    pool = [rng.choice(TALK, 3), rng.choice(SHIPS, 1), rng.choice(TALK, rng.integers(1, 5)), rng.choice(PORTS, 1),
            rng.choice(TALK, rng.integers(1, 4)), rng.choice(CARGO, rng.integers(1, 3))]
    line = [w for part in rng.permutation(len(pool)) for w in pool[part]]
    smudged = [1 if rng.random() < 0.04 else ids_of[w] for w in line]
    ids = smudged + [0] * (MAXLEN - len(line))
    tags = [tag_of.get(w, 0) for w in line]
    tags = [t if t or rng.random() < 0.3 else -100 for t in tags] + [-100] * (MAXLEN - len(line))
    return ids, tags, [tag_of.get(w, 0) for w in line] + [-1] * (MAXLEN - len(line))


ids, tags, full = (np.array(c, "int32") for c in zip(*[entry() for _ in range(700)]))
features = {"input_ids": ids, "attention_mask": (ids != 0).astype("int32"), "labels": tags}
train = tf.data.Dataset.from_tensor_slices({k: v[:560] for k, v in features.items()})
train = train.shuffle(560, seed=31).batch(16)

config = ElectraConfig(vocab_size=len(words) + 2, embedding_size=32, hidden_size=64, num_hidden_layers=2,
                       num_attention_heads=4, intermediate_size=96, max_position_embeddings=MAXLEN,
                       num_labels=len(LABELS))
model = TFElectraForTokenClassification(config)
model.compile(optimizer=tf.keras.optimizers.Adam(1e-3))
model.fit(train, epochs=5, verbose=2)

test = {k: v[560:] for k, v in features.items() if k != "labels"}
pred = model.predict(test, verbose=0).logits.argmax(-1)
gold = full[560:]
print("all words  %.3f" % (pred[gold >= 0] == gold[gold >= 0]).mean())
for k, name in enumerate(LABELS):
    print(f"{name:6s} recall {np.mean(pred[gold == k] == k):.3f}  ({(gold == k).sum()} words)")
