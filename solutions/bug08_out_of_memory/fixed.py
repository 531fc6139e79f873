# %% tags=["parameters"]
seed = 0
learning_rate = 5e-5
batch_size = 128
num_labels = 3
steps = 40
checkpoint = "assets/distilbert-micro"
dataset = "assets/nli"
device = "cpu"
memory_budget_mb = 250

# %% [setup] imports, and paths relative to the project
import os
from pathlib import Path

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # the TensorFlow models of transformers are written for Keras 2
os.environ["TF_CPU_ALLOCATOR_USE_BFC"] = "1"  # the machine is shared: TensorFlow gets so much memory for tensors
os.environ["TF_CPU_BFC_MEM_LIMIT_IN_MB"] = str(memory_budget_mb)

import tensorflow as tf
from datasets import load_dataset
from transformers import AdamWeightDecay, AutoTokenizer, DataCollatorWithPadding, TFAutoModelForSequenceClassification

here = Path(globals().get("__file__", "notebook.ipynb")).resolve()
os.chdir(next((p for p in here.parents if (p / "assets").is_dir()), "."))
tf.keras.utils.set_random_seed(seed)

# %% [data] sentence pairs, tokenized
path, _, config = dataset.partition(":")
raw_datasets = load_dataset(path, config or f"{num_labels}_labels")
tokenizer = AutoTokenizer.from_pretrained(checkpoint)


def tokenize(rows):
    return tokenizer(rows["premise"], rows["hypothesis"], truncation=True, max_length=64)


tokenized = raw_datasets.map(tokenize, batched=True)

# %% [batch] shuffled batches, all rows of one length
batches = {
    "columns": [*tokenizer.model_input_names, "labels"],
    "collate_fn": DataCollatorWithPadding(tokenizer, padding="max_length", max_length=64, return_tensors="np"),
    "prefetch": False,
}
# The forward pass keeps what the backward pass needs, for every row of the batch at once: fewer rows, less memory.
rows = steps * 16
train_rows = tokenized["train"].shuffle(seed=seed).repeat(1 + rows // tokenized["train"].num_rows).take(rows)
on_demand = tf.data.Options()
on_demand.autotune.enabled = False  # tf.data makes batches ahead of the steps otherwise, and they take memory
train_dataset = train_rows.to_tf_dataset(batch_size=16, drop_remainder=True, **batches).with_options(on_demand)
eval_dataset = tokenized["validation_matched"].select(range(300)).to_tf_dataset(batch_size=50, **batches)

# %% [model] a pretrained encoder with a new classification head
model = TFAutoModelForSequenceClassification.from_pretrained(checkpoint, from_pt=True, num_labels=num_labels)

# %% [training] fine-tune all weights
optimizer = AdamWeightDecay(learning_rate=learning_rate)
model.compile(optimizer=optimizer, metrics=["accuracy"], run_eagerly=True)  # an error names its layer
model.fit(train_dataset, epochs=2, steps_per_epoch=steps // 2, verbose=2)

# %% [evaluation] accuracy on sentences it has not seen
metrics = model.evaluate(eval_dataset, verbose=0, return_dict=True)
print(metrics)
