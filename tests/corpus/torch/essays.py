# Trainer, one grade per essay (regression), text cut to the length of the model
import random
import numpy as np
from datasets import Dataset
from transformers import RobertaConfig, RobertaForSequenceClassification, Trainer, TrainingArguments, set_seed

set_seed(6)
rng = random.Random(6)
MAX_LEN, PAD = 40, 1
points = {w: rng.uniform(-1, 1) for w in range(10, 60)}


def essay():
    words = [rng.randint(10, 59) for _ in range(rng.randint(8, 60))]
    return words, sum(points[w] for w in words[:MAX_LEN - 1]) / 4 + rng.gauss(0, 0.1)


def encode(words):
    ids = ([0] + words)[:MAX_LEN]
    return {"input_ids": ids + [PAD] * (MAX_LEN - len(ids)), "attention_mask": [1] * len(ids) + [0] * (MAX_LEN - len(ids))}


def build(n):
    return Dataset.from_list([dict(encode(w), label=float(g)) for w, g in (essay() for _ in range(n))])


train, valid = build(2400), build(400)
mean, std = np.mean(train["label"]), np.std(train["label"])
scale = lambda row: {"label": (row["label"] - mean) / std}
train, valid = train.map(scale), valid.map(scale)

config = RobertaConfig(vocab_size=60, hidden_size=64, num_hidden_layers=1, num_attention_heads=4, intermediate_size=128,
                       max_position_embeddings=MAX_LEN + PAD + 1, pad_token_id=PAD, num_labels=1,
                       hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
model = RobertaForSequenceClassification(config)


def compute_metrics(p):
    pred, truth = p.predictions[:, 0], p.label_ids
    return {"rmse": float(np.sqrt(np.mean((pred - truth) ** 2))),
            "pearson": float(np.corrcoef(pred, truth)[0, 1])}


args = TrainingArguments(output_dir="out_essays", num_train_epochs=8, per_device_train_batch_size=32,
                         per_device_eval_batch_size=100, learning_rate=1.5e-3, warmup_ratio=0.1, eval_strategy="epoch",
                         logging_strategy="epoch", save_strategy="no", report_to="none", use_cpu=True)
trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=valid, compute_metrics=compute_metrics)
trainer.train()
print(trainer.evaluate())
