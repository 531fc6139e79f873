"""Route insurance claims with a small GPT-2 body (TensorFlow) and an own Keras head."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from transformers import GPT2Config, TFGPT2Model

tf.keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)
DESKS = {"motor": "car bumper brake tyre driver lane".split(),
         "home": "roof kitchen leak boiler cellar wall".split(),
         "travel": "flight luggage hotel visa airport delay".split()}
FILLER = "the my was on a with after and very had then please".split()
vocab = ["<pad>", "<bos>", "<eos>"] + FILLER + sum(DESKS.values(), [])
word_id = {w: i for i, w in enumerate(vocab)}
LEN = 14


def encode(words):
    return [word_id["<bos>"]] + [word_id[w] for w in words] + [word_id["<eos>"]]


def claim(desk):
    words = list(rng.choice(FILLER, LEN - 2 - 3)) + list(rng.choice(DESKS[desk], 2))
    other = rng.choice([d for d in DESKS if d != desk])
    words.append(rng.choice(DESKS[other]))
    rng.shuffle(words)
    return encode(words)


names = list(DESKS)
labels = rng.integers(0, 3, 900)
ids = np.array([claim(names[k]) for k in labels], dtype="int32")

config = GPT2Config(vocab_size=len(vocab), n_positions=32, n_embd=32, n_layer=2, n_head=2,
                    bos_token_id=1, eos_token_id=2, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)


class ClaimRouter(tf.keras.Model):
    def __init__(self, config, n_labels):
        super().__init__()
        self.body = TFGPT2Model(config)
        self.dropout = tf.keras.layers.Dropout(0.1)
        self.classifier = tf.keras.layers.Dense(n_labels)

    def call(self, inputs, training=False):
        hidden = self.body(input_ids=inputs, training=training).last_hidden_state
        pooled = self.dropout(hidden[:, 0], training=training)
        return self.classifier(pooled)


model = ClaimRouter(config, len(names))
model.compile(optimizer=tf.keras.optimizers.Adam(3e-3),
              loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(ids[:720], labels[:720], validation_data=(ids[720:], labels[720:]), epochs=8, batch_size=48, verbose=2)
print("desk accuracy", round(model.evaluate(ids[720:], labels[720:], verbose=0)[1], 3))
