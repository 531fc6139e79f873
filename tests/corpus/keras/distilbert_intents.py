import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import random
import tempfile
import numpy as np
import tensorflow as tf
import keras
from transformers import DistilBertConfig, DistilBertTokenizerFast, TFAutoModelForSequenceClassification

random.seed(2)
np.random.seed(2)
tf.random.set_seed(2)

INTENTS = {
    "weather": "rain sunny forecast temperature umbrella cloudy".split(),
    "music": "play song album artist volume playlist".split(),
    "alarm": "wake timer minutes snooze morning remind".split(),
    "travel": "flight hotel ticket airport luggage train".split(),
    "cooking": "recipe oven boil garlic minutes simmer".split(),
}
COMMON = "can you please me a the for what is my set find some now tomorrow".split()
NAMES = list(INTENTS)


def utterance(intent):
    words = random.choices(COMMON, k=random.randint(4, 9)) + random.choices(INTENTS[intent], k=2)
    random.shuffle(words)
    return " ".join(words)


y = np.array([random.randrange(len(NAMES)) for _ in range(1500)])
texts = [utterance(NAMES[i]) for i in y]

words = sorted({w for t in texts for w in t.split()})
path = os.path.join(tempfile.mkdtemp(), "vocab.txt")
with open(path, "w") as f:
    f.write("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + words))
tokenizer = DistilBertTokenizerFast(vocab_file=path)

enc = tokenizer(texts, padding=True, return_tensors="np")
features = {k: enc[k] for k in ("input_ids", "attention_mask")}
train = {k: v[:1200] for k, v in features.items()}
test = {k: v[1200:] for k, v in features.items()}

config = DistilBertConfig(
    vocab_size=len(tokenizer), dim=64, n_layers=2, n_heads=4, hidden_dim=128,
    max_position_embeddings=32, num_labels=len(NAMES),
)
model = TFAutoModelForSequenceClassification.from_config(config)

optimizer = keras.optimizers.Adam(learning_rate=1e-3)
model.compile(optimizer=optimizer, metrics=["accuracy"])
model.fit(train, y[:1200], validation_data=(test, y[1200:]), batch_size=32, epochs=5, verbose=2)

logits = model.predict(test, verbose=0).logits
print("test accuracy %.4f" % np.mean(logits.argmax(-1) == y[1200:]))
print("majority share %.4f" % (np.bincount(y[1200:]).max() / len(y[1200:])))
