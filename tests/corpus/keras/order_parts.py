import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from datasets import load_dataset
from transformers import (
    AutoTokenizer,
    DataCollatorWithPadding,
    TFDistilBertForSequenceClassification,
    create_optimizer,
    set_seed,
)

CHECKPOINT = "assets/distilbert-mini"
BATCH = 8
EPOCHS = 1

set_seed(0)
raw = load_dataset("assets/nli", "4_labels")
names = raw["train"].features["label"].names
tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)

# the second text alone names the detail of the order
tokenized = raw.map(lambda rows: tokenizer(rows["hypothesis"], truncation=True), batched=True)
tokenized = tokenized.rename_column("label", "labels")
collator = DataCollatorWithPadding(tokenizer, return_tensors="np")


def batches(split, shuffle):
    return tokenized[split].to_tf_dataset(
        columns=["input_ids", "attention_mask", "labels"], shuffle=shuffle, batch_size=BATCH, collate_fn=collator
    )


train, test = batches("train", True), batches("validation_matched", False)

model = TFDistilBertForSequenceClassification.from_pretrained(
    CHECKPOINT, from_pt=True, id2label=dict(enumerate(names)), label2id={n: i for i, n in enumerate(names)}
)
# words keep the vectors they came with; the two lowest blocks stay as they are, too
model.distilbert.embeddings.trainable = False
for block in model.distilbert.transformer.layer[:2]:
    block.trainable = False

steps = len(train) * EPOCHS
optimizer, _ = create_optimizer(init_lr=1e-4, num_train_steps=steps, num_warmup_steps=steps // 10, weight_decay_rate=0.01)
model.compile(optimizer=optimizer)  # the model's own loss is used
model.fit(train, validation_data=test, epochs=EPOCHS, verbose=2)

logits = model.predict(test, verbose=0).logits
truth = np.array(raw["validation_matched"]["label"])
print("accuracy", round(float((logits.argmax(-1) == truth).mean()), 3), "chance", 1 / len(names))
