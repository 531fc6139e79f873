import random

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models
from transformers import (BertConfig, BertForTokenClassification, DataCollatorWithPadding,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments)

random.seed(13)

TAGS = ["O", "B-VENDOR", "I-VENDOR", "B-AMOUNT", "B-DATE", "I-DATE"]
tag_id = {t: i for i, t in enumerate(TAGS)}
FIRST = ["Northfield", "Larkspur", "Odeon", "Quill", "Santos", "Bramley"]
SECOND = ["Paper", "Steel", "Catering", "Freight", "Optics"]
MONTHS = ["January", "March", "June", "August", "November"]


def invoice():
    words, tags = [], []

    def add(text, labels=None):
        parts = text.split()
        words.extend(parts)
        tags.extend(labels or ["O"] * len(parts))

    opening = random.choice(["please find attached the invoice from", "invoice issued by", "we received a bill of"])
    add(opening)
    add(f"{random.choice(FIRST)} {random.choice(SECOND)}", ["B-VENDOR", "I-VENDOR"])
    if random.random() < 0.7:
        add(random.choice(["for a total of", "amounting to"]))
        add(str(random.randint(100, 140)), ["B-AMOUNT"])
        add("euro")
    if random.random() < 0.7:
        add(random.choice(["due on", "payable until", "dated"]))
        add(f"{random.randint(1, 28)} {random.choice(MONTHS)}", ["B-DATE", "I-DATE"])
    if random.random() < 0.4:
        add("with kind regards from the accounting office")
    return {"words": words, "tags": tags}


rows = [invoice() for _ in range(900)]
vocab = {"[PAD]": 0, "[UNK]": 1}
for r in rows:
    for w in r["words"]:
        vocab.setdefault(w, len(vocab))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel(vocab, unk_token="[UNK]")),
                                    pad_token="[PAD]", unk_token="[UNK]")


def encode(row):
    enc = tokenizer(row["words"], is_split_into_words=True)
    enc["labels"] = [tag_id[row["tags"][w]] for w in enc.word_ids()]
    return enc


dataset = Dataset.from_list(rows).map(encode, remove_columns=["words", "tags"])
dataset = dataset.train_test_split(test_size=150, seed=3)

model = BertForTokenClassification(BertConfig(
    vocab_size=len(vocab), hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
    max_position_embeddings=64, num_labels=len(TAGS), id2label=dict(enumerate(TAGS)), label2id=tag_id))


def entity_accuracy(p):
    guess, gold = p.predictions.argmax(-1), p.label_ids
    entity = gold > 0
    return {"entity_accuracy": float((guess == gold)[entity].mean()),
            "token_accuracy": float((guess == gold)[gold != -100].mean())}


training_args = TrainingArguments(
    output_dir="ner_out", num_train_epochs=6, per_device_train_batch_size=16, learning_rate=1e-3, weight_decay=0.01,
    eval_strategy="epoch", save_strategy="no", logging_steps=50, report_to="none", seed=13)
trainer = Trainer(
    model=model,
    args=training_args,
    train_dataset=dataset["train"],
    eval_dataset=dataset["test"],
    processing_class=tokenizer,
    data_collator=DataCollatorWithPadding(tokenizer),
    compute_metrics=entity_accuracy,
)
trainer.train()
print(trainer.evaluate())
