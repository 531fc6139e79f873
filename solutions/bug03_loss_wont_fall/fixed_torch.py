# %% tags=["parameters"]
seed = 0
learning_rate = 5e-5
batch_size = 16
num_labels = 3
steps = 100
checkpoint = "assets/distilbert-mini"
dataset = "assets/nli"
device = "cpu"

# %% [setup] imports, and paths relative to the project
import os
import tempfile
from pathlib import Path

import evaluate
import torch
from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments, set_seed

here = Path(globals().get("__file__", "notebook.ipynb")).resolve()
os.chdir(next((p for p in here.parents if (p / "assets").is_dir()), "."))
set_seed(seed)

# %% [data] premises and hypotheses, as token ids
path, _, config = dataset.partition(":")
raw_datasets = load_dataset(path, config or f"{num_labels}_labels")
tokenizer = AutoTokenizer.from_pretrained(checkpoint)


def preprocess(examples):
    return tokenizer(examples["premise"], examples["hypothesis"], truncation=True)


tokenized_datasets = raw_datasets.map(preprocess, batched=True)
train_dataset = tokenized_datasets["train"]
eval_dataset = tokenized_datasets["validation_matched"].select(range(300))

# %% [model] the pretrained encoder with a new classification head
model = AutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels=num_labels)

# %% [training] a short run
metric = evaluate.load("assets/accuracy")


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    return metric.compute(predictions=logits.argmax(axis=-1), references=labels)


args = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    max_steps=steps,
    learning_rate=learning_rate,
    lr_scheduler_type="constant",
    per_device_train_batch_size=batch_size,
    per_device_eval_batch_size=50,
    logging_steps=10,
    save_strategy="no",
    report_to="none",
    seed=seed,
    use_cpu=device == "cpu",
)
# an optimizer made here knows nothing of the arguments above: unless told, Adam takes its own default, 1e-3
optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
trainer = Trainer(
    model,
    args,
    train_dataset=train_dataset,
    eval_dataset=eval_dataset,
    processing_class=tokenizer,
    compute_metrics=compute_metrics,
    optimizers=(optimizer, None),
)
trainer.train()

# %% [evaluation] accuracy on pairs the model has not seen
results = trainer.evaluate()
metrics = {"accuracy": results["eval_accuracy"]}
print(metrics)
