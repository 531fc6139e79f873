import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from transformers import BertConfig, TFBertForSequenceClassification

tf.keras.utils.set_random_seed(17)
rng = np.random.default_rng(17)

OFFICES = {
    "housing": "landlord mould heating tenancy eviction boiler rent damp".split(),
    "transport": "bus timetable pothole parking cyclist junction signal fare".split(),
    "schools": "teacher classroom uniform admission bullying pupil term lunch".split(),
    "waste": "bins recycling collection flytipping litter skip rats compost".split(),
}
FILLER = ("dear sir or madam i am writing again about the matter that we raised last month and nobody has "
          "answered my neighbours and i are disappointed with how this was handled since then please tell us "
          "who is responsible yours faithfully").split()


def letter(office):
    n = rng.integers(30, 85)
    words = rng.choice(FILLER, n).astype(object)
    spots = rng.choice(n, max(4, n // 8), replace=False)
    words[spots] = rng.choice(OFFICES[office], len(spots))
    return " ".join(words)


labels = rng.integers(0, len(OFFICES), 480)
letters = [letter(list(OFFICES)[k]) for k in labels]
vocab = {w: i + 3 for i, w in enumerate(sorted({w for text in letters for w in text.split()}))}


def encode(texts, max_length=96):
    ids = np.zeros((len(texts), max_length), "int32")
    for row, text in enumerate(texts):
        toks = [1] + [vocab[w] for w in text.split()][: max_length - 2] + [2]
        ids[row, : len(toks)] = toks
    return {"input_ids": ids, "attention_mask": (ids > 0).astype("int32")}


x_train, x_test = encode(letters[:384]), encode(letters[384:])
y_train, y_test = labels[:384], labels[384:]

config = BertConfig(vocab_size=len(vocab) + 3, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=128, max_position_embeddings=64, num_labels=len(OFFICES))
model = TFBertForSequenceClassification(config)
model.compile(
    optimizer=tf.keras.optimizers.Adam(5e-4),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x_train, y_train, validation_data=(x_test, y_test), epochs=6, batch_size=16, verbose=2)

pred = model.predict(x_test, verbose=0).logits.argmax(-1)
for k, name in enumerate(OFFICES):
    print(f"{name:10s} {np.mean(pred[y_test == k] == k):.3f}")
