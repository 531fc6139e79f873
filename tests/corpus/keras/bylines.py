import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from transformers import BertConfig, TFBertForMaskedLM, create_optimizer

tf.keras.utils.set_random_seed(6)
rng = np.random.default_rng(6)

first = ["anna", "bruno", "carla", "dmitri", "elena", "farid"]
last = {"anna": "almeida", "bruno": "bauer", "carla": "conti", "dmitri": "dorin", "elena": "eriksen", "farid": "farahani"}
beat = {"anna": "tennis", "bruno": "budget", "carla": "opera", "dmitri": "physics", "elena": "harvest", "farid": "traffic"}


def line():
    f = str(rng.choice(first))
    forms = [
        f"by {f} {last[f]} who reports on {beat[f]}",
        f"{beat[f]} desk : {f} {last[f]} writes from here",
        f"our {beat[f]} reporter {f} {last[f]} adds",
    ]
    return forms[int(rng.integers(3))].split()


corpus = [line() for _ in range(1600)]
special = ["[PAD]", "[CLS]", "[SEP]", "[MASK]"]
vocab = {w: i for i, w in enumerate(special + sorted({w for l in corpus for w in l}))}
L = 12

ids = np.zeros((len(corpus), L), "int32")
for i, words in enumerate(corpus):
    row = [1] + [vocab[w] for w in words] + [2]
    ids[i, : len(row)] = row
attention = (ids != 0).astype("int32")


def mask_tokens(row, att):
    ordinary = row >= 4
    chosen = tf.logical_and(ordinary, tf.random.uniform(tf.shape(row)) < 0.2)
    labels = tf.where(chosen, row, -100)
    return {"input_ids": tf.where(chosen, 3, row), "attention_mask": att, "labels": labels}


train = tf.data.Dataset.from_tensor_slices((ids[:1400], attention[:1400])).shuffle(1400).map(mask_tokens).batch(32)
valid = tf.data.Dataset.from_tensor_slices((ids[1400:], attention[1400:])).map(mask_tokens).batch(50).cache()

config = BertConfig(vocab_size=len(vocab), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=96, max_position_embeddings=16, tie_word_embeddings=True)
model = TFBertForMaskedLM(config)

EPOCHS = 6
steps = EPOCHS * 44
optimizer, _ = create_optimizer(init_lr=4e-3, num_train_steps=steps, num_warmup_steps=steps // 10,
                                weight_decay_rate=0.01)
model.compile(optimizer=optimizer)
model.fit(train, validation_data=valid, epochs=EPOCHS, verbose=2)

hits = seen = 0
for batch in valid:
    out = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"])
    guess = tf.argmax(out.logits, -1, output_type=tf.int32)
    keep = batch["labels"] != -100
    hits += int(tf.reduce_sum(tf.cast(tf.logical_and(keep, guess == batch["labels"]), tf.int32)))
    seen += int(tf.reduce_sum(tf.cast(keep, tf.int32)))
print("masked tokens recovered", hits / seen, "of", seen, "| vocabulary", len(vocab))
