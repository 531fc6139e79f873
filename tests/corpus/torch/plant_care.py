import random

import numpy as np
from datasets import Dataset
from sklearn.metrics import f1_score
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding, PreTrainedTokenizerFast,
                          Trainer, TrainingArguments, set_seed)

set_seed(3)
rng = random.Random(3)
TAGS = {
    "watering": ["soggy", "dry soil", "wilting after noon", "water pools in the saucer"],
    "light": ["leggy stems", "scorched edges", "leaning to the window", "pale new growth"],
    "pests": ["tiny webs", "sticky leaves", "small white flies", "holes in the foliage"],
    "feeding": ["yellow between the veins", "no flowers this year", "stunted tips"],
}
NAMES = list(TAGS)
PLANTS = ["ficus", "monstera", "basil", "lemon tree", "fern", "orchid"]


def question():
    chosen = rng.sample(NAMES, rng.randint(1, 3))
    signs = [rng.choice(TAGS[t]) for t in chosen]
    rng.shuffle(signs)
    return f"my {rng.choice(PLANTS)} has " + " and ".join(signs), chosen


questions = [question() for _ in range(1400)]
tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer.train_from_iterator([q for q, _ in questions], trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]"]))
tok = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]")


def encode(row):
    enc = tok(row["text"])
    enc["labels"] = [int(name in row["tags"]) for name in NAMES]
    return enc


data = Dataset.from_dict({"text": [q for q, _ in questions], "tags": [t for _, t in questions]})
data = data.map(encode, remove_columns=["text", "tags"]).train_test_split(test_size=200, seed=3)
model = BertForSequenceClassification(BertConfig(
    vocab_size=len(tok), hidden_size=64, num_hidden_layers=1, num_attention_heads=4, intermediate_size=128,
    max_position_embeddings=64, hidden_dropout_prob=0.0, num_labels=len(NAMES), problem_type="multi_label_classification"))


def metrics(p):
    return {"f1": f1_score(p.label_ids.astype(int), (p.predictions > 0).astype(int), average="micro")}


args = TrainingArguments("out/plant_care", learning_rate=2e-3, num_train_epochs=12, per_device_train_batch_size=32,
                         logging_steps=80, save_strategy="no", report_to="none", disable_tqdm=True)
trainer = Trainer(model, args, data_collator=DataCollatorWithPadding(tok), train_dataset=data["train"],
                  eval_dataset=data["test"], compute_metrics=metrics)
trainer.train()
print(trainer.evaluate())
