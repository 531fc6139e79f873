import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from datasets import load_dataset
from transformers import AutoTokenizer, TFAutoModelForSequenceClassification

MODEL = "assets/distilbert-mini"
MAX_LEN = 64

tf.keras.utils.set_random_seed(0)
tokenizer = AutoTokenizer.from_pretrained(MODEL)
data = load_dataset("assets/nli", "3_labels")


def to_tf(split, limit, shuffle):
    rows = data[split].shuffle(seed=0).select(range(limit))
    enc = tokenizer(list(rows["premise"]), list(rows["hypothesis"]), truncation=True, max_length=MAX_LEN,
                    padding="max_length", return_tensors="np")
    inputs = {"input_ids": enc["input_ids"], "attention_mask": enc["attention_mask"]}
    ds = tf.data.Dataset.from_tensor_slices((inputs, np.array(rows["label"])))
    if shuffle:
        ds = ds.shuffle(limit, seed=0)
    return ds.batch(16).prefetch(tf.data.AUTOTUNE)


train_ds = to_tf("train", 960, shuffle=True)
val_ds = to_tf("validation_matched", 300, shuffle=False)

model = TFAutoModelForSequenceClassification.from_pretrained(MODEL, num_labels=3, from_pt=True)
model.compile(
    optimizer=tf.keras.optimizers.Adam(learning_rate=5e-5),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(train_ds, validation_data=val_ds, epochs=2, verbose=2)

premise, hypothesis = "The nurse is in the attic and likes cheese.", "The nurse is fond of cheese."
probs = tf.nn.softmax(model(tokenizer(premise, hypothesis, return_tensors="tf")).logits)[0].numpy()
print(dict(zip(["entailment", "neutral", "contradiction"], probs.round(3))))
