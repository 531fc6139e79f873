import random
from functools import partial

import numpy as np
from datasets import Dataset
from transformers import (BertConfig, BertForSequenceClassification, Trainer, TrainingArguments,
                          default_data_collator, set_seed)

set_seed(42)
URGENT = ["smoke", "injured", "bleeding", "trapped", "unconscious"]
ROUTINE = ["noise", "parking", "lost", "question", "permit"]
OTHER = ["caller", "says", "near", "the", "house", "street", "neighbour", "a", "since", "morning"]
VOCAB = {w: i for i, w in enumerate(["[PAD]", "[CLS]"] + URGENT + ROUTINE + OTHER)}


def make_calls(n):
    calls = []
    for _ in range(n):
        urgent = random.random() < 0.5
        words = random.choices(OTHER, k=8) + random.choices(URGENT if urgent else ROUTINE, k=2)
        random.shuffle(words)
        calls.append({"text": " ".join(words), "label": int(urgent)})
    return Dataset.from_list(calls)


def encode(example, max_length):
    ids = [VOCAB["[CLS]"]] + [VOCAB[w] for w in example["text"].split()]
    pad = max_length - len(ids)
    return {"input_ids": ids + [0] * pad, "attention_mask": [1] * len(ids) + [0] * pad}


train_ds = make_calls(640).map(partial(encode, max_length=14))
eval_ds = make_calls(200).map(partial(encode, max_length=14))

config = BertConfig(vocab_size=len(VOCAB), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=96, max_position_embeddings=14, num_labels=2)
model = BertForSequenceClassification(config)

args = TrainingArguments(
    output_dir="hotline_model",
    num_train_epochs=3,
    per_device_train_batch_size=16,
    per_device_eval_batch_size=50,
    learning_rate=2e-5,
    weight_decay=0.01,
    eval_strategy="epoch",
    logging_steps=20,
    save_strategy="no",
    report_to="none",
    use_cpu=True,
)


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    return {"accuracy": float((np.argmax(logits, axis=-1) == labels).mean())}


trainer = Trainer(model=model, args=args, train_dataset=train_ds, eval_dataset=eval_ds,
                  data_collator=default_data_collator, compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
