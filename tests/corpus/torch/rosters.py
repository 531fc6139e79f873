import random

import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(6)
rng = random.Random(6)
SHIFTS = ["<pad>", "early", "late", "night", "off", "training"]
WORD = {s: i for i, s in enumerate(SHIFTS)}


def roster():
    share = rng.random()
    length = rng.choice([6, 8, 10, 12, 50, 70])
    days = [WORD["night"] if rng.random() < share else rng.choice([1, 2, 4, 5]) for _ in range(length)]
    return {"days": days, "strain": days.count(WORD["night"]) / length * 4 - 2}


train, test = [roster() for _ in range(1500)], [roster() for _ in range(300)]


def collate(rows):
    ids = [torch.tensor(r["days"]) for r in rows]
    return {
        "input_ids": pad_sequence(ids, batch_first=True, padding_value=0),
        "labels": torch.tensor([r["strain"] for r in rows]),
    }


model = BertForSequenceClassification(BertConfig(
    vocab_size=len(SHIFTS), hidden_size=48, num_hidden_layers=1, num_attention_heads=4, intermediate_size=96,
    max_position_embeddings=80, num_labels=1, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))


def metrics(p):
    error = abs(p.predictions[:, 0] - p.label_ids)
    return {"mae": float(error.mean()), "guessing_the_mean": float(abs(p.label_ids - p.label_ids.mean()).mean())}


args = TrainingArguments("out/rosters", learning_rate=1e-3, num_train_epochs=4, per_device_train_batch_size=16,
                         per_device_eval_batch_size=16, remove_unused_columns=False, logging_steps=50,
                         save_strategy="no", report_to="none", disable_tqdm=True)
trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=test, data_collator=collate,
                  compute_metrics=metrics)
trainer.train()
print(trainer.evaluate())

model.eval()
with torch.no_grad():
    alone = [model(**{k: v for k, v in collate([r]).items() if k != "labels"}).logits.item() for r in test]
print("one by one, mae:", sum(abs(a - r["strain"]) for a, r in zip(alone, test)) / len(test))
