import random

import numpy as np
from datasets import Dataset
from sklearn.metrics import accuracy_score, f1_score
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (BertConfig, BertForSequenceClassification, DataCollatorWithPadding,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(33)
sections = {"sport": ["goal", "match", "coach", "league"], "money": ["shares", "profit", "bank", "market"],
            "science": ["cells", "orbit", "study", "energy"], "culture": ["novel", "stage", "film", "museum"]}
names = list(sections)
fill = "the new after says over first with more from year week".split()
rows = []
for _ in range(800):
    k = random.randrange(4)
    w = random.choices(fill, k=random.randint(3, 9)) + random.choices(sections[names[k]], k=2)
    random.shuffle(w)
    rows.append({"text": " ".join(w), "label": k})

vocab = {"[PAD]": 0, "[UNK]": 1}
for w in fill + sum(sections.values(), []):
    vocab[w] = len(vocab)
core = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]", model_max_length=16)
ds = Dataset.from_list(rows).map(lambda b: tokenizer(b["text"], truncation=True), batched=True, remove_columns=["text"])
ds = ds.train_test_split(test_size=160, seed=33)

model = BertForSequenceClassification(BertConfig(
    vocab_size=len(vocab), hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
    max_position_embeddings=16, num_labels=4))


def compute_metrics(p):
    pred = np.argmax(p.predictions, axis=1)
    return {"accuracy": accuracy_score(p.label_ids, pred), "macro_f1": f1_score(p.label_ids, pred, average="macro")}


trainer = Trainer(
    model=model,
    args=TrainingArguments(output_dir="news", num_train_epochs=5, per_device_train_batch_size=16, learning_rate=1e-3,
                           eval_strategy="epoch", logging_steps=40, save_strategy="no", report_to="none", use_cpu=True),
    train_dataset=ds["train"], eval_dataset=ds["test"], processing_class=tokenizer,
    data_collator=DataCollatorWithPadding(tokenizer), compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
