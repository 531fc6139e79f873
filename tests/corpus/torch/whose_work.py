import random
import tempfile
from dataclasses import dataclass

import numpy as np
import torch
from datasets import Dataset
from transformers import (AutoModelForMultipleChoice, AutoTokenizer, PreTrainedTokenizerBase, Trainer,
                          TrainingArguments, set_seed)

set_seed(6)
CKPT = "assets/distilbert-mini"
tokenizer = AutoTokenizer.from_pretrained(CKPT)
HOME = {"cook": "kitchen", "farmer": "orchard", "pilot": "plane", "librarian": "library", "sailor": "ship",
        "nurse": "hospital", "miner": "mine", "ranger": "forest", "lawyer": "office", "teacher": "classroom"}
rng = random.Random(6)


def question():
    who = rng.choice(list(HOME))
    wrong = rng.sample([p for j, p in HOME.items() if j != who], 3)
    endings = wrong + [HOME[who]]
    rng.shuffle(endings)
    when = rng.choice(["on friday", "today", "this afternoon", "yesterday", "on sunday"])
    mood = rng.choice(["tired", "cheerful", "busy", "nervous"])
    return {"context": f"the {mood} {who} works {when}.",
            "endings": [f"the work is in the {e}." for e in endings],
            "label": endings.index(HOME[who])}


def encode(batch):
    first = [c for c in batch["context"] for _ in range(4)]
    second = [e for es in batch["endings"] for e in es]
    enc = tokenizer(first, second, truncation=True, max_length=64)
    return {k: [v[i:i + 4] for i in range(0, len(v), 4)] for k, v in enc.items()}


train = Dataset.from_list([question() for _ in range(1000)]).map(encode, batched=True)
valid = Dataset.from_list([question() for _ in range(200)]).map(encode, batched=True)


@dataclass
class CollateChoices:
    tokenizer: PreTrainedTokenizerBase

    def __call__(self, features):
        labels = [f["label"] for f in features]
        n_rows, n_choices = len(features), len(features[0]["input_ids"])
        flat = [{k: f[k][c] for k in ("input_ids", "attention_mask")} for f in features for c in range(n_choices)]
        batch = self.tokenizer.pad(flat, padding=True, return_tensors="pt")
        batch = {k: v.view(n_choices, n_rows, -1).transpose(0, 1).contiguous() for k, v in batch.items()}
        batch["labels"] = torch.tensor(labels)
        return batch


def accuracy(p):
    return {"accuracy": float((np.argmax(p.predictions, axis=1) == p.label_ids).mean())}


model = AutoModelForMultipleChoice.from_pretrained(CKPT)
args = TrainingArguments(
    output_dir=tempfile.mkdtemp(), learning_rate=3e-4, num_train_epochs=4, per_device_train_batch_size=16,
    per_device_eval_batch_size=32, warmup_ratio=0.1, eval_strategy="epoch", logging_steps=20, save_strategy="no",
    report_to="none", disable_tqdm=True)
trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=valid,
                  data_collator=CollateChoices(tokenizer), compute_metrics=accuracy)
trainer.train()
print(trainer.evaluate())
