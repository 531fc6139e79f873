import random

import numpy as np
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (DataCollatorForTokenClassification, DistilBertConfig, DistilBertForTokenClassification,
                          PreTrainedTokenizerFast, Trainer, TrainingArguments, set_seed)

set_seed(55)
tags = ["O", "QTY", "UNIT", "FOOD"]
quantities, units = ["1", "2", "3", "half", "ten"], ["cups", "grams", "spoons", "cans"]
foods, verbs = ["flour", "butter", "rice", "beans", "milk", "orange"], ["add", "stir", "mix", "boil", "the", "and", "then"]


def sentence():
    words, marks = [], []
    for _ in range(random.randint(1, 3)):
        for _ in range(random.randint(1, 2)):
            words.append(random.choice(verbs)), marks.append(0)
        words.append(random.choice(quantities)), marks.append(1)
        words.append(random.choice(units)), marks.append(2)
        words.append(random.choice(foods)), marks.append(3)
    return words, marks


vocab = {"[PAD]": 0, "[UNK]": 1}
for w in quantities + units + foods + verbs:
    vocab[w] = len(vocab)
core = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
core.pre_tokenizer = pre_tokenizers.Whitespace()
tok = PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]")


def encode(words, marks):
    enc = tok(words, is_split_into_words=True)
    return {"input_ids": enc["input_ids"], "attention_mask": enc["attention_mask"],
            "labels": [marks[i] for i in enc.word_ids()]}


train_ds = Dataset.from_list([encode(*sentence()) for _ in range(500)])
eval_ds = Dataset.from_list([encode(*sentence()) for _ in range(100)])
model = DistilBertForTokenClassification(DistilBertConfig(vocab_size=len(vocab), dim=32, hidden_dim=64, n_layers=2,
                                                          n_heads=2, max_position_embeddings=32, num_labels=len(tags)))


def compute_metrics(p):
    pred, keep = p.predictions.argmax(-1), p.label_ids != -100
    entity = keep & (p.label_ids > 0)
    return {"accuracy": float((pred == p.label_ids)[keep].mean()), "entity_recall": float((pred == p.label_ids)[entity].mean())}


args = TrainingArguments(output_dir="units", num_train_epochs=4, per_device_train_batch_size=20, learning_rate=2e-3,
                         logging_steps=25, eval_strategy="epoch", save_strategy="no", report_to="none", use_cpu=True)
trainer = Trainer(model=model, args=args, train_dataset=train_ds, eval_dataset=eval_ds, processing_class=tok,
                  data_collator=DataCollatorForTokenClassification(tok), compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
