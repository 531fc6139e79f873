import numpy as np
import torch
from transformers import (DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments,
                          set_seed)

set_seed(77)
rng = np.random.default_rng(77)

urgent = "outage crash down breach stuck lost leak failing".split()
normal = "slow question billing invoice update rename address seat".split()
low = "thanks idea wish colour suggestion theme someday nice".split()
glue = "the our server we have a with and since morning team is please it on page user account".split()
vocab = ["[PAD]", "[CLS]"] + urgent + normal + low + glue
tok = {w: i for i, w in enumerate(vocab)}
L = 20


def ticket():
    y = int(rng.integers(0, 3))
    pools = [low, normal, urgent]
    n = int(rng.integers(8, L - 1))
    words = list(rng.choice(glue, n))
    spots = rng.choice(n, 4, replace=False)
    for j, s in enumerate(spots):
        # three words of the right pool, one from any
        words[s] = str(rng.choice(pools[y] if j < 3 else pools[int(rng.integers(0, 3))]))
    ids = [1] + [tok[str(w)] for w in words]
    mask = [1] * len(ids) + [0] * (L - len(ids))
    return {"input_ids": ids + [0] * (L - len(ids)), "attention_mask": mask, "labels": y}


train = [ticket() for _ in range(3200)]
dev = [ticket() for _ in range(500)]


def compute_metrics(p):
    return {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())}


model = DistilBertForSequenceClassification(DistilBertConfig(
    vocab_size=len(vocab), dim=64, hidden_dim=128, n_layers=2, n_heads=4, max_position_embeddings=L,
    num_labels=3, dropout=0.1, attention_dropout=0.1))

args = TrainingArguments(
    output_dir="out",
    num_train_epochs=6,
    per_device_train_batch_size=64,
    per_device_eval_batch_size=128,
    learning_rate=5e-4,
    warmup_steps=10000,
    lr_scheduler_type="linear",
    weight_decay=0.01,
    eval_strategy="epoch",
    logging_steps=25,
    save_strategy="no",
    report_to=[],
    use_cpu=True,
    disable_tqdm=True,
    seed=77,
)
trainer = Trainer(model=model, args=args, train_dataset=train, eval_dataset=dev, compute_metrics=compute_metrics)
trainer.train()
print("dev:", trainer.evaluate())
