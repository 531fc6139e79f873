import numpy as np
from datasets import load_dataset
from sklearn.metrics import accuracy_score, f1_score
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorWithPadding,
    Trainer,
    TrainingArguments,
    set_seed,
)

set_seed(17)

checkpoint = "assets/distilbert-mini"
raw = load_dataset("assets/nli", "3_labels")
tokenizer = AutoTokenizer.from_pretrained(checkpoint)


def tokenize(examples):
    return tokenizer(examples["premise"], examples["hypothesis"], truncation=True)


data = raw.map(tokenize, batched=True, remove_columns=["premise", "hypothesis", "idx"])

model = AutoModelForSequenceClassification.from_pretrained(
    checkpoint,
    num_labels=3,
    id2label={0: "entailment", 1: "neutral", 2: "contradiction"},
    label2id={"entailment": 0, "neutral": 1, "contradiction": 2},
)


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    preds = np.argmax(logits, axis=-1)
    return {
        "accuracy": accuracy_score(labels, preds),
        "macro_f1": f1_score(labels, preds, average="macro"),
    }


args = TrainingArguments(
    output_dir="out_nli_trainer",
    num_train_epochs=2,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=64,
    learning_rate=1e-4,
    lr_scheduler_type="linear",
    warmup_steps=4000,
    weight_decay=0.01,
    eval_strategy="epoch",
    save_strategy="no",
    logging_steps=20,
    report_to="none",
    use_cpu=True,
    seed=17,
)

trainer = Trainer(
    model=model,
    args=args,
    train_dataset=data["train"].shuffle(seed=17).select(range(1900)),
    eval_dataset=data["validation_matched"],
    data_collator=DataCollatorWithPadding(tokenizer),
    compute_metrics=compute_metrics,
)

trainer.train()
print("matched   ", trainer.evaluate())
print("mismatched", trainer.evaluate(data["validation_mismatched"]))
