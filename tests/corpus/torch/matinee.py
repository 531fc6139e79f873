import random
import numpy as np
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(1)
random.seed(1)

POS = ["gripping", "funny", "moving", "superb", "clever", "warm"]
NEG = ["dull", "clumsy", "tedious", "shallow", "noisy", "flat"]
REST = ["film", "plot", "actor", "scene", "music", "ending", "camera", "script", "director", "cast", "story", "screen"]
VOCAB = {w: i for i, w in enumerate(["<pad>", "<cls>"] + POS + NEG + REST)}
PAD = VOCAB["<pad>"]


def review():
    n = random.randint(5, 14) if random.random() < 0.8 else random.randint(50, 90)
    k = random.choice([1, 3])
    label = random.randint(0, 1)
    major, minor = (POS, NEG) if label else (NEG, POS)
    opinion = [random.choice(major) for _ in range(k + 1)] + [random.choice(minor) for _ in range(k - 1)]
    words = opinion + [random.choice(REST) for _ in range(max(0, n - len(opinion)))]
    random.shuffle(words)
    return {"input_ids": [VOCAB["<cls>"]] + [VOCAB[w] for w in words], "label": label}


def collate(rows):
    width = max(len(r["input_ids"]) for r in rows)
    input_ids = torch.tensor([r["input_ids"] + [PAD] * (width - len(r["input_ids"])) for r in rows])
    labels = torch.tensor([r["label"] for r in rows])
    return {"input_ids": input_ids, "labels": labels}


def accuracy(p):
    return {"accuracy": float(np.mean(p.predictions.argmax(-1) == p.label_ids))}


train_rows = [review() for _ in range(1200)]
eval_rows = [review() for _ in range(300)]

model = BertForSequenceClassification(BertConfig(
    vocab_size=len(VOCAB), hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
    max_position_embeddings=128, num_labels=2, pad_token_id=PAD))

args = TrainingArguments(
    output_dir="matinee_out", num_train_epochs=2, per_device_train_batch_size=16,
    per_device_eval_batch_size=16, learning_rate=5e-4, warmup_ratio=0.1, eval_strategy="epoch",
    save_strategy="no", logging_steps=30, report_to="none", use_cpu=True, remove_unused_columns=False, seed=1)

trainer = Trainer(model=model, args=args, train_dataset=train_rows, eval_dataset=eval_rows,
                  data_collator=collate, compute_metrics=accuracy)
trainer.train()
print(trainer.evaluate())
