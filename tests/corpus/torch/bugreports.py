import random

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(7)
rng = random.Random(7)

TAGS = ["crash", "ui", "performance", "docs"]
PHRASES = {
    "crash": ["segfault on startup", "app crashes when saving", "stack trace attached", "core dumped again"],
    "ui": ["button is misaligned", "dark theme unreadable", "dialog hidden behind window", "icon looks blurry"],
    "performance": ["takes forever to load", "cpu at hundred percent", "very slow scrolling", "memory keeps rising"],
    "docs": ["readme is outdated", "typo in the manual", "missing example in tutorial", "broken link in guide"],
}
FILLER = ["on version two", "since last update", "please help", "using linux", "happens every time", "on my laptop"]


def make_report():
    tags = [t for t in TAGS if rng.random() < 0.4] or [rng.choice(TAGS)]
    parts = [rng.choice(PHRASES[t]) for t in tags] + rng.sample(FILLER, 2)
    rng.shuffle(parts)
    return {"text": " ".join(parts), "tags": tags}


reports = [make_report() for _ in range(1000)]

tok = Tokenizer(models.WordLevel(unk_token="[UNK]"))
tok.pre_tokenizer = pre_tokenizers.Whitespace()
tok.train_from_iterator([r["text"] for r in reports[:800]],
                        trainers.WordLevelTrainer(special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=tok, pad_token="[PAD]", unk_token="[UNK]")


def preprocess(row):
    enc = tokenizer("[CLS] " + row["text"], truncation=True, max_length=48)
    enc["labels"] = [int(t in row["tags"]) for t in TAGS]
    return enc


ds = Dataset.from_list(reports).map(preprocess, remove_columns=["text", "tags"])
train_ds, eval_ds = ds.select(range(800)), ds.select(range(800, 1000))

config = BertConfig(vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=128, max_position_embeddings=64, num_labels=len(TAGS),
                    problem_type="multi_label_classification",
                    id2label=dict(enumerate(TAGS)), label2id={t: i for i, t in enumerate(TAGS)})
model = BertForSequenceClassification(config)


def compute_metrics(p):
    pred = (p.predictions > 0).astype(int)
    gold = p.label_ids.astype(int)
    tp = (pred * gold).sum()
    return {"micro_f1": 2 * tp / max(1, pred.sum() + gold.sum()), "exact": float(np.mean((pred == gold).all(1)))}


args = TrainingArguments(output_dir="bugreports_out", num_train_epochs=4, per_device_train_batch_size=16,
                         learning_rate=1e-3, eval_strategy="epoch", logging_steps=25, save_strategy="no",
                         report_to="none", use_cpu=True, seed=7)
trainer = Trainer(model=model, args=args, train_dataset=train_ds, eval_dataset=eval_ds,
                  data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
