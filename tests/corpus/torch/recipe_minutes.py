import random
import tempfile

import numpy as np
import torch
from datasets import Dataset
from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (DataCollatorWithPadding, DistilBertConfig, DistilBertForSequenceClassification,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(8)

STEPS = {
    "chop the onions": 4, "peel the potatoes": 8, "whisk the eggs": 2, "knead the dough": 10,
    "let the dough rest": 30, "bring water to a boil": 7, "simmer the sauce": 20, "roast in the oven": 40,
    "fry until golden": 6, "grate the cheese": 3, "chill in the fridge": 45, "season to taste": 1,
    "toast the nuts": 5, "steam the rice": 18,
}
FILLER = ["then", "meanwhile", "after that", "next", "carefully"]


def write_recipe():
    chosen = random.sample(list(STEPS), random.randint(2, 6))
    text = f" {random.choice(FILLER)} ".join(chosen)
    minutes = sum(STEPS[s] for s in chosen) + random.gauss(0, 3)
    return {"text": text, "minutes": minutes}


rows = [write_recipe() for _ in range(2200)]
mean = float(np.mean([r["minutes"] for r in rows[:1800]]))
scale = float(np.std([r["minutes"] for r in rows[:1800]]))

raw_tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
raw_tok.pre_tokenizer = pre_tokenizers.Whitespace()
raw_tok.train_from_iterator([r["text"] for r in rows[:1800]],
                            trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]"]))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw_tok, pad_token="[PAD]", unk_token="[UNK]")


def prepare(row):
    enc = tokenizer(row["text"])
    return {"input_ids": enc["input_ids"], "attention_mask": enc["attention_mask"],
            "label": (row["minutes"] - mean) / scale}


train_ds = Dataset.from_list(rows[:1800]).map(prepare, remove_columns=["text", "minutes"])
eval_ds = Dataset.from_list(rows[1800:]).map(prepare, remove_columns=["text", "minutes"])

config = DistilBertConfig(vocab_size=len(tokenizer), dim=64, hidden_dim=128, n_layers=2, n_heads=4,
                          max_position_embeddings=64, num_labels=1, pad_token_id=tokenizer.pad_token_id)
model = DistilBertForSequenceClassification(config)


def compute_metrics(eval_pred):
    pred = eval_pred.predictions.squeeze(-1) * scale + mean
    true = eval_pred.label_ids.reshape(-1) * scale + mean
    return {
        "mae": mean_absolute_error(true, pred),
        "rmse": mean_squared_error(true, pred, squared=False),
        "r2": r2_score(true, pred),
    }


args = TrainingArguments(
    output_dir=tempfile.mkdtemp(),
    num_train_epochs=6,
    per_device_train_batch_size=32,
    per_device_eval_batch_size=100,
    learning_rate=1e-3,
    warmup_ratio=0.1,
    eval_strategy="epoch",
    save_strategy="no",
    logging_steps=25,
    report_to="none",
    disable_tqdm=True,
)
trainer = Trainer(model=model, args=args, train_dataset=train_ds, eval_dataset=eval_ds,
                  data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=compute_metrics)
trainer.train()
final = trainer.evaluate()
print({k: round(v, 4) for k, v in final.items()})
print(f"spread of the target (std): {scale:.2f} minutes")
