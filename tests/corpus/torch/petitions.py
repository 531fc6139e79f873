import random

import numpy as np
from datasets import Dataset
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(1)
areas = [["bus", "cycle", "road", "tram"], ["school", "teacher", "pupil", "lesson"], ["park", "tree", "river", "garden"]]
common = "we ask the council to keep build more new our for all now".split()
word2id = {w: i + 1 for i, w in enumerate(common + sum(areas, []))}

petitions = []
labels = []
for area, words in enumerate(areas):
    for _ in range(250):
        p = random.choices(common, k=7) + random.choices(words, k=3)
        random.shuffle(p)
        petitions.append(p)
        labels.append(area)

random.shuffle(petitions)
split = int(0.8 * len(petitions))


def build(texts, ys):
    return Dataset.from_dict({
        "input_ids": [[word2id[w] for w in t] for t in texts],
        "attention_mask": [[1] * len(t) for t in texts],
        "label": ys,
    })


order = list(range(len(petitions)))
random.shuffle(order)
petitions = [petitions[i] for i in order]
labels = [labels[i] for i in order]
train_ds = build(petitions[:split], labels[:split])
test_ds = build(petitions[split:], labels[split:])

model = DistilBertForSequenceClassification(DistilBertConfig(
    vocab_size=len(word2id) + 1, dim=32, hidden_dim=64, n_layers=2, n_heads=2,
    max_position_embeddings=16, num_labels=len(areas)))


def compute_metrics(eval_pred):
    logits, y = eval_pred
    return {"accuracy": float((np.argmax(logits, -1) == y).mean())}


args = TrainingArguments(output_dir="petitions", num_train_epochs=5, per_device_train_batch_size=20,
                         learning_rate=1e-3, logging_steps=30, eval_strategy="epoch", save_strategy="no",
                         report_to="none", use_cpu=True)
trainer = Trainer(model=model, args=args, train_dataset=train_ds, eval_dataset=test_ds, compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
