import numpy as np
import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

set_seed(13)
rng = np.random.default_rng(13)

NOTES = ["C", "D", "E", "F", "G", "A", "B", "c", "d", "e", "f", "g"]
BOS = len(NOTES)
MOTIFS = [[0, 2, 4, 7], [5, 3, 1, 0], [4, 5, 6, 7], [9, 8, 7, 4], [2, 4, 6, 9]]


def tune(length=32):
    seq = [BOS]
    while len(seq) < length:
        seq += MOTIFS[rng.integers(len(MOTIFS))]
    return seq[:length]


class Tunes(Dataset):
    def __init__(self, n):
        self.data = [torch.tensor(tune()) for _ in range(n)]

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return {"input_ids": self.data[i], "labels": self.data[i].clone()}


def preprocess_logits_for_metrics(logits, labels):
    return logits.argmax(dim=-1)


def compute_metrics(eval_preds):
    preds, labels = eval_preds
    labels = labels.reshape(-1)
    preds = preds.reshape(-1)
    mask = labels != -100
    return {"accuracy": float((preds[mask] == labels[mask]).mean())}


model = GPT2LMHeadModel(GPT2Config(vocab_size=len(NOTES) + 1, n_positions=64, n_embd=64, n_layer=2, n_head=4,
                                   bos_token_id=BOS, eos_token_id=BOS))

args = TrainingArguments(
    output_dir="recital_out",
    num_train_epochs=5,
    per_device_train_batch_size=16,
    per_device_eval_batch_size=50,
    learning_rate=2e-3,
    lr_scheduler_type="cosine",
    warmup_steps=20,
    eval_strategy="epoch",
    save_strategy="no",
    logging_steps=25,
    report_to="none",
    use_cpu=True,
)

trainer = Trainer(
    model=model,
    args=args,
    train_dataset=Tunes(600),
    eval_dataset=Tunes(100),
    compute_metrics=compute_metrics,
    preprocess_logits_for_metrics=preprocess_logits_for_metrics,
)
trainer.train()
metrics = trainer.evaluate()
print(metrics)
print("perplexity", np.exp(metrics["eval_loss"]))
