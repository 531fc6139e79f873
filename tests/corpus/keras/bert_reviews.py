import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["USE_TF"] = "1"
import random
import tempfile
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, BertTokenizerFast, TFAutoModelForSequenceClassification

random.seed(13)
tf_keras.utils.set_random_seed(13)

GOOD = "great tasty friendly fresh cozy lovely quick perfect".split()
BAD = "awful bland rude stale noisy dirty slow broken".split()
OKAY = "average decent plain ordinary usual fine standard regular".split()
ASPECTS = "food service staff coffee place menu dessert waiter music table".split()
GLUE = "the was and we found a very really our with in there".split()

vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + GOOD + BAD + OKAY + ASPECTS + GLUE
vocab_path = os.path.join(tempfile.mkdtemp(), "vocab.txt")
with open(vocab_path, "w") as f:
    f.write("\n".join(vocab))
tokenizer = BertTokenizerFast(vocab_file=vocab_path)


def review(stars):
    words = random.choice([BAD, OKAY, GOOD]) if stars is None else [BAD, OKAY, GOOD][stars]
    text = []
    for _ in range(random.randint(2, 4)):
        text += random.choices(GLUE, k=2) + [random.choice(ASPECTS), "was", random.choice(words)]
    return " ".join(text)


labels = np.array([random.randrange(3) for _ in range(1800)])
reviews = [review(s) for s in labels]


def to_dataset(texts, y, shuffle):
    enc = tokenizer(texts, padding="max_length", truncation=True, max_length=28, return_tensors="np")
    ds = tf.data.Dataset.from_tensor_slices((dict(enc), y))
    if shuffle:
        ds = ds.shuffle(len(y), seed=13)
    return ds.batch(32)


train_ds = to_dataset(reviews[:1400], labels[:1400], True)
val_ds = to_dataset(reviews[1400:], labels[1400:], False)

config = BertConfig(
    vocab_size=len(vocab), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=128, max_position_embeddings=64, num_labels=3,
)
model = TFAutoModelForSequenceClassification.from_config(config)

model.compile(
    optimizer=tf_keras.optimizers.Adam(5e-4),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(train_ds, validation_data=val_ds, epochs=4, verbose=2)

logits = model.predict(val_ds, verbose=0).logits
pred = np.argmax(logits, axis=-1)
print("predicted class counts", np.bincount(pred, minlength=3))
print("validation accuracy %.4f" % np.mean(pred == labels[1400:]))
