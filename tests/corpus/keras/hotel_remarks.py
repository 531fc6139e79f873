import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import random
import numpy as np
import tensorflow as tf
import tf_keras as keras
from transformers import DistilBertConfig, TFAutoModel

random.seed(14)
keras.utils.set_random_seed(14)

ASPECTS = {
    "room": "bed pillow curtain mattress wardrobe window carpet".split(),
    "food": "breakfast coffee dinner buffet eggs soup waiter".split(),
    "staff": "reception porter manager smile helpful rude desk".split(),
    "place": "beach station centre quiet traffic view walk".split(),
    "price": "cheap bill overpriced deposit voucher value refund".split(),
}
GLUE = "we stayed here two nights and the was very but our in again would not it really".split()
NAMES = list(ASPECTS)
VOCAB = {w: i + 2 for i, w in enumerate(sorted({w for v in ASPECTS.values() for w in v} | set(GLUE)))}
LENGTH = 24


def remark():
    flags = [random.random() < 0.4 for _ in NAMES]
    words = [w for name, on in zip(NAMES, flags) if on for w in random.sample(ASPECTS[name], 2)]
    words += [random.choice(GLUE) for _ in range(random.randint(6, 12))]
    random.shuffle(words)
    return words, flags


def encode(n):
    ids = np.zeros((n, LENGTH), "int32")
    mask = np.zeros((n, LENGTH), "int32")
    targets = np.zeros((n, len(NAMES)), "float32")
    for i in range(n):
        words, flags = remark()
        row = [1] + [VOCAB[w] for w in words][:LENGTH - 1]
        ids[i, :len(row)] = row
        mask[i, :len(row)] = 1
        targets[i] = flags
    return {"input_ids": ids, "attention_mask": mask}, targets


class AspectTagger(keras.Model):
    def __init__(self, config, outputs):
        super().__init__()
        self.body = TFAutoModel.from_config(config)
        self.drop = keras.layers.Dropout(0.1)
        self.head = keras.layers.Dense(outputs, name="aspects")

    def call(self, batch, training=False):
        states = self.body(batch, training=training).last_hidden_state
        weights = tf.cast(batch["attention_mask"], states.dtype)[..., None]
        pooled = tf.reduce_sum(states * weights, 1) / tf.reduce_sum(weights, 1)
        return self.head(self.drop(pooled, training=training))


x_train, y_train = encode(900)
x_val, y_val = encode(200)
model = AspectTagger(
    DistilBertConfig(vocab_size=len(VOCAB) + 2, dim=40, n_heads=4, n_layers=2, hidden_dim=80,
                     max_position_embeddings=LENGTH),
    len(NAMES),
)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="binary_crossentropy")
model.fit(x_train, y_train, validation_data=(x_val, y_val), batch_size=32, epochs=5, verbose=2)

scores = model.predict(x_val, verbose=0)
for j, name in enumerate(NAMES):
    order = scores[:, j].argsort().argsort() + 1
    pos = y_val[:, j] == 1
    auc = (order[pos].sum() - pos.sum() * (pos.sum() + 1) / 2) / (pos.sum() * (~pos).sum())
    print(f"{name:6s} auc {auc:.3f}")
print("exact match:", ((scores > 0) == (y_val == 1)).all(1).mean().round(3))
