import random
import tempfile

import numpy as np
from datasets import Dataset
from transformers import (AutoConfig, AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding,
                          Trainer, TrainingArguments, set_seed)

set_seed(11)
random.seed(11)
PATH = "assets/distilbert-mini"
NUMBERS = "one two three four five six seven eight nine ten eleven twelve".split()
GOODS = ["towels", "carpets", "mirrors", "candles", "ribbons", "apples", "chairs", "jars", "lamps"]
WHO = ["plumber", "gardener", "tailor", "teacher", "nurse", "librarian"]


def order():
    """A delivery note and how full the van is (0 to about 1)."""
    n = [random.randint(1, 12) for _ in range(2)]
    a, b = random.sample(GOODS, 2)
    text = f"The {random.choice(WHO)} delivers {NUMBERS[n[0] - 1]} {a} and {NUMBERS[n[1] - 1]} {b}."
    return text, sum(n) / 24 + random.gauss(0, 0.02)


pairs = [order() for _ in range(2000)]
ds = Dataset.from_dict({"text": [t for t, _ in pairs], "label": [float(v) for _, v in pairs]})
ds = ds.train_test_split(test_size=300, seed=11)

tok = AutoTokenizer.from_pretrained(PATH)
ds = ds.map(lambda b: tok(b["text"], truncation=True), batched=True, remove_columns=["text"])

config = AutoConfig.from_pretrained(PATH, num_labels=1, problem_type="regression", seq_classif_dropout=0.0)
model = AutoModelForSequenceClassification.from_pretrained(PATH, config=config)


def compute_metrics(eval_pred):
    predictions, labels = eval_pred
    errors = predictions - labels
    return {
        "rmse": float(np.sqrt(np.mean(errors ** 2))),
        "mae": float(np.mean(np.abs(errors))),
        "std_of_labels": float(labels.std()),
    }


args = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    learning_rate=2e-4,
    warmup_steps=20,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=100,
    max_steps=250,
    logging_steps=50,
    eval_strategy="steps",
    eval_steps=125,
    save_strategy="no",
    report_to="none",
)
trainer = Trainer(model=model, args=args, train_dataset=ds["train"], eval_dataset=ds["test"],
                  data_collator=DataCollatorWithPadding(tok), compute_metrics=compute_metrics)
trainer.train()
final = trainer.evaluate()
print({k: round(v, 4) for k, v in final.items()})
