"""Multiple choice built from the NLI set: three texts, exactly one of them makes the statement true."""
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import torch
from datasets import Dataset, load_dataset
from transformers import AutoModelForMultipleChoice, AutoTokenizer, PreTrainedTokenizerBase, Trainer, TrainingArguments, set_seed

CKPT = "assets/distilbert-mini"
set_seed(99)
rng = np.random.default_rng(99)
tokenizer = AutoTokenizer.from_pretrained(CKPT)


def to_choices(split):
    """Every hypothesis of the set has one premise per label: the entailing one is the answer."""
    groups = defaultdict(dict)
    for row in split:
        groups[row["hypothesis"]][row["label"]] = row["premise"]
    rows = []
    for hypothesis, premises in groups.items():
        if len(premises) != 3:
            continue
        order = rng.permutation(3)
        rows.append({
            "statement": hypothesis,
            "texts": [premises[int(k)] for k in order],
            "label": int(np.where(order == 0)[0][0]),
        })
    return Dataset.from_list(rows)


def tokenize(row):
    return tokenizer(row["texts"], [row["statement"]] * 3, truncation=True, max_length=80)


@dataclass
class ChoiceCollator:
    tokenizer: PreTrainedTokenizerBase

    def __call__(self, features):
        labels = [f.pop("label") for f in features]
        n, k = len(features), len(features[0]["input_ids"])
        # one long list of single sequences so that the tokenizer can pad them, then back to [n, k, length]
        flat = [{key: values[i] for key, values in f.items()} for i in range(k) for f in features]
        padded = self.tokenizer.pad(flat, padding=True, return_tensors="pt")
        batch = {key: value.view(n, k, -1) for key, value in padded.items()}
        batch["labels"] = torch.tensor(labels)
        return batch


nli = load_dataset("assets/nli", "3_labels")
train = to_choices(nli["train"]).map(tokenize, remove_columns=["statement", "texts"])
valid = to_choices(nli["validation_matched"]).map(tokenize, remove_columns=["statement", "texts"])
print(len(train), "training questions,", len(valid), "for validation")

model = AutoModelForMultipleChoice.from_pretrained(CKPT)
args = TrainingArguments(
    output_dir="mc",
    learning_rate=5e-5,
    per_device_train_batch_size=8,
    per_device_eval_batch_size=25,
    num_train_epochs=1,
    logging_steps=15,
    lr_scheduler_type="constant_with_warmup",
    warmup_steps=10,
    save_strategy="no",
    report_to="none",
    disable_tqdm=True,
)
trainer = Trainer(
    model=model,
    args=args,
    train_dataset=train,
    eval_dataset=valid,
    data_collator=ChoiceCollator(tokenizer),
    compute_metrics=lambda p: {"accuracy": float((np.argmax(p.predictions, axis=1) == p.label_ids).mean())},
)
print("before:", trainer.evaluate())
trainer.train()
print("after:", trainer.evaluate())
