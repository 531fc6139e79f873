# %% tags=["parameters"]
seed = 0
learning_rate = 2e-4
batch_size = 128
num_labels = 3
steps = 12
checkpoint = "assets/distilbert-mini"
dataset = "assets/nli"
device = "cpu"
memory_budget_mb = 250

# %% [setup] imports, and paths relative to the project
import os
import resource
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

# %% [training] the trainer, and a baseline: what the new head scores before training
metric = evaluate.load("assets/accuracy")


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    return metric.compute(predictions=logits.argmax(axis=-1), references=labels)


args = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    max_steps=steps,
    learning_rate=learning_rate,
    lr_scheduler_type="constant",
    # 16 rows at a time are in memory; their gradients add up to those of one batch of batch_size rows
    per_device_train_batch_size=16,
    gradient_accumulation_steps=batch_size // 16,
    per_device_eval_batch_size=50,
    logging_steps=4,
    save_strategy="no",
    report_to="none",
    seed=seed,
    use_cpu=device == "cpu",
)
model.accepts_loss_kwargs = False  # each loss is the mean of its own 16 rows, so the Trainer has to average them
trainer = Trainer(
    model,
    args,
    train_dataset=train_dataset,
    eval_dataset=eval_dataset,
    processing_class=tokenizer,
    compute_metrics=compute_metrics,
)
baseline = trainer.evaluate()
print(baseline["eval_accuracy"])

# %% [resources] what the shared machine grants a job, on top of what is loaded by now
budget = memory_budget_mb * 2**20
if device == "cuda":
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + budget) / total)
else:
    loaded = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (loaded + budget, hard))

# %% [training] a short run
trainer.train()

# %% [evaluation] accuracy on pairs the model has not seen
results = trainer.evaluate()
metrics = {"accuracy": results["eval_accuracy"]}
print(metrics)
