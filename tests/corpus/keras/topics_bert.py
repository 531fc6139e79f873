import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
from datasets import Dataset
from transformers import BertConfig, TFBertForSequenceClassification

tf.keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)
VOCAB, MAX_LEN, N_TOPICS = 200, 24, 3


def make_rows(n):
    rows = {"input_ids": [], "attention_mask": [], "labels": []}
    for _ in range(n):
        topic = int(rng.integers(N_TOPICS))
        length = int(rng.integers(8, MAX_LEN - 2))
        common = rng.integers(100, VOCAB, size=length)
        own = rng.integers(10 + 20 * topic, 30 + 20 * topic, size=length)
        words = np.where(rng.random(length) < 0.3, own, common)
        ids = [1] + words.tolist() + [2]
        pad = MAX_LEN - len(ids)
        rows["input_ids"].append(ids + [0] * pad)
        rows["attention_mask"].append([1] * len(ids) + [0] * pad)
        rows["labels"].append(topic)
    return rows


train = Dataset.from_dict(make_rows(1200))
test = Dataset.from_dict(make_rows(300))

columns = ["input_ids", "attention_mask", "labels"]
tf_train = train.to_tf_dataset(columns=columns, batch_size=32, shuffle=True)
tf_test = test.to_tf_dataset(columns=columns, batch_size=64, shuffle=False)

config = BertConfig(vocab_size=VOCAB, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=128, max_position_embeddings=64, num_labels=N_TOPICS)
model = TFBertForSequenceClassification(config)
model.compile(
    optimizer=tf.keras.optimizers.Adam(5e-4),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
model.fit(tf_train, validation_data=tf_test, epochs=5, verbose=2)

logits = model.predict(tf_test, verbose=0).logits
print("test accuracy:", (logits.argmax(-1) == np.array(test["labels"])).mean())
