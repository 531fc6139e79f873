# %% tags=["parameters"]
seed = 0
learning_rate = 5e-5
batch_size = 16
num_labels = 3
steps = 40
checkpoint = "assets/distilbert-micro"
dataset = "assets/nli"
device = "cpu"

# %% [setup] imports, and paths relative to the project
import os
from pathlib import Path

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # the TensorFlow models of transformers are written for Keras 2

import evaluate
import numpy as np
import tensorflow as tf
from datasets import load_dataset
from transformers import (
    AdamWeightDecay,
    AutoTokenizer,
    DataCollatorWithPadding,
    KerasMetricCallback,
    TFAutoModelForSequenceClassification,
)

here = Path(globals().get("__file__", "notebook.ipynb")).resolve()
os.chdir(next((p for p in here.parents if (p / "assets").is_dir()), "."))
tf.keras.utils.set_random_seed(seed)

# %% [data] sentence pairs, tokenized
path, _, config = dataset.partition(":")
raw_datasets = load_dataset(path, config or f"{num_labels}_labels")
tokenizer = AutoTokenizer.from_pretrained(checkpoint)


def tokenize(rows):
    return tokenizer(rows["premise"], rows["hypothesis"], truncation=True)


tokenized = raw_datasets.map(tokenize, batched=True)

# %% [batch] shuffled batches, padded to the longest of each
batches = {
    "columns": [*tokenizer.model_input_names, "labels"],
    "collate_fn": DataCollatorWithPadding(tokenizer, return_tensors="np"),
}
rows = steps * batch_size
train_rows = tokenized["train"].shuffle(seed=seed).repeat(1 + rows // tokenized["train"].num_rows).take(rows)
train_dataset = train_rows.to_tf_dataset(batch_size=batch_size, drop_remainder=True, **batches)
eval_dataset = tokenized["validation_matched"].select(range(300)).to_tf_dataset(batch_size=50, **batches)

# %% [model] a pretrained encoder with a new classification head
model = TFAutoModelForSequenceClassification.from_pretrained(checkpoint, from_pt=True, num_labels=num_labels)

# %% [training] fine-tune all weights, with the accuracy at the end of every epoch
metric = evaluate.load("assets/accuracy")


def compute_metrics(eval_predictions):
    logits, labels = eval_predictions
    # The model returns one score per class for each row; the metric wants one class id per row.
    predictions = np.argmax(logits, axis=-1)
    return metric.compute(predictions=predictions, references=labels)


model.compile(optimizer=AdamWeightDecay(learning_rate=learning_rate))
history = model.fit(train_dataset, callbacks=[KerasMetricCallback(compute_metrics, eval_dataset)], verbose=2)

# %% [evaluation] accuracy on sentences it has not seen, after the last epoch
metrics = {name: values[-1] for name, values in history.history.items()}
print(metrics)
