import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import tensorflow as tf
from datasets import load_dataset
from transformers import AutoTokenizer, DataCollatorWithPadding, TFAutoModelForSequenceClassification, set_seed

set_seed(5)
checkpoint = "assets/distilbert-mini"
batch_size = 16
num_epochs = 2

raw = load_dataset("assets/nli", "3_labels")
tokenizer = AutoTokenizer.from_pretrained(checkpoint)


def encode(rows):
    return tokenizer(rows["premise"], rows["hypothesis"], truncation=True, max_length=64)


train = raw["train"].shuffle(seed=5).select(range(640)).map(encode, batched=True)
valid = raw["validation_matched"].select(range(160)).map(encode, batched=True)
collator = DataCollatorWithPadding(tokenizer, return_tensors="np")

tf_train = train.to_tf_dataset(
    columns=["input_ids", "attention_mask"],
    label_cols="label",
    shuffle=True,
    batch_size=batch_size,
    collate_fn=collator,
)
tf_valid = valid.to_tf_dataset(
    columns=["input_ids", "attention_mask"],
    label_cols="label",
    shuffle=False,
    batch_size=batch_size,
    collate_fn=collator,
)

model = TFAutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=3, from_pt=True)

lr_schedule = tf.keras.optimizers.schedules.PolynomialDecay(
    initial_learning_rate=5e-5,
    decay_steps=num_epochs,
    end_learning_rate=0.0,
)
model.compile(
    optimizer=tf.keras.optimizers.Adam(learning_rate=lr_schedule),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
history = model.fit(tf_train, validation_data=tf_valid, epochs=num_epochs, verbose=2)
print("validation accuracy per epoch:", [round(a, 3) for a in history.history["val_accuracy"]])
